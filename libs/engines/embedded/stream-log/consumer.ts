import { type ConsumeOptions, type Consumer } from '#libs/stream-log/stream-log.js';
import { revocation } from '#libs/stream-log/revocation.js';
import { type Group } from './group.js';
import { type Lane } from './lane.js';

/** One member of a group. The log assigns and revokes its lanes. */
export class EmbeddedConsumer implements Consumer {
  /** Lanes by topic name. */
  readonly lanes = new Map<string, Lane>();
  /** Handlers still running in lanes revoked from this consumer. */
  private readonly leftovers = new Set<Promise<void>>();
  private failed = 0;
  private closed: Promise<void> | undefined;

  constructor(
    readonly options: ConsumeOptions,
    private readonly group: Group,
    private readonly leave: (consumer: EmbeddedConsumer) => Promise<void>,
  ) {}

  close(): Promise<void> {
    this.closed ??= this.end();
    return this.closed;
  }

  backlog(): number {
    return Math.max(0, this.group.backlog);
  }

  backlogOf(lane: string): number {
    return Math.max(0, this.lanes.get(lane)?.backlog ?? 0);
  }

  unreadBytesOf(lane: string): number {
    return Math.max(0, this.lanes.get(lane)?.bytes ?? 0);
  }

  failures(): number {
    return this.failed;
  }

  retire(lane: Lane): void {
    if (this.lanes.get(lane.topic.name) === lane) this.lanes.delete(lane.topic.name);
    const { running } = lane.window;
    if (!running) return;
    this.leftovers.add(running);
    void running.then(() => this.leftovers.delete(running));
  }

  /** Resolves when the consumer has released the lane. */
  revoke(lane: Lane): Promise<void> {
    if (!lane.window.used) return Promise.resolve();
    const { onRevoked } = this.options;
    const done = revocation(lane.topic.name, onRevoked, lane.window.running, () => this.countFailure());
    this.leftovers.add(done);
    void done.then(() => this.leftovers.delete(done));
    return done;
  }

  countFailure(): void {
    this.failed++;
  }

  private async end(): Promise<void> {
    this.group.members.delete(this);
    for (const lane of this.lanes.values()) lane.window.revoke();
    for (const lane of [...this.lanes.values()]) await lane.window.running;
    await Promise.all(this.leftovers);
    await this.leave(this);
  }
}
