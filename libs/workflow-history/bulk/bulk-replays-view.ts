import { type Clock } from '#libs/kernel/clock.js';
import { type Actor, idOf, type RecordedEvent, streamName } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { bulkReplay, type StartedBulkReplay } from './bulk-replay.js';
import { type BulkReplayEvent } from '../published.js';

export interface KnownBulkReplay {
  readonly id: string;
  readonly workspaceId: string;
  /** Who started it. */
  readonly by: Actor;
  readonly replay: StartedBulkReplay;
}

/** How long an ended one can be read, and how many of a workspace. */
const KEPT_MS = 86_400_000;
const MOST_ENDED = 200;
const PREFIX = streamName(bulkReplay.category, '');

/** Keeps the bulk replays that run, and those that ended within a day. */
export class BulkReplaysView implements LiveView {
  /** In the order of their start. */
  private readonly known = new Map<string, KnownBulkReplay>();

  constructor(private readonly clock: Clock) {}

  find(id: string): KnownBulkReplay | undefined {
    const found = this.known.get(id);
    return found && !this.isOld(found) ? found : undefined;
  }

  running(): readonly KnownBulkReplay[] {
    return [...this.known.values()].filter(({ replay }) => replay.state === 'running');
  }

  countRunning(workspaceId: string): number {
    return this.running().filter((each) => each.workspaceId === workspaceId).length;
  }

  apply(recorded: RecordedEvent): void {
    if (!recorded.stream.startsWith(PREFIX)) return;
    const id = idOf(recorded.stream);
    const { workspaceId, actor } = recorded.metadata;
    const before = this.known.get(id);
    const replay = bulkReplay.evolve(before?.replay ?? null, recorded as RecordedEvent & BulkReplayEvent);
    if (!replay) return;
    this.known.set(id, { id, workspaceId: before?.workspaceId ?? workspaceId, by: before?.by ?? actor, replay });
    if (replay.state !== 'running') this.forgetOld(before?.workspaceId ?? workspaceId);
  }

  private forgetOld(workspaceId: string): void {
    let left = MOST_ENDED;
    for (const each of [...this.known.values()].reverse()) {
      const isSurplus = each.workspaceId === workspaceId && each.replay.state !== 'running' && left-- <= 0;
      if (isSurplus || this.isOld(each)) this.known.delete(each.id);
    }
  }

  private isOld({ replay: { endedAt } }: KnownBulkReplay): boolean {
    return endedAt !== null && endedAt < this.clock.now() - KEPT_MS;
  }
}
