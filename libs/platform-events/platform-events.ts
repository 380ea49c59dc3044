import { PLATFORM_CHANNEL } from '#libs/component-model/channels.js';
import { type Clock } from '#libs/kernel/clock.js';
import { createOwnedTopics } from '#libs/stream-log/owned-topics.js';
import { emitIds } from '#libs/stream-log/emit-ids.js';
import { type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';

/** Kinds of docs/reference/rest-api.md#platform-events. */
export type PlatformEventKind =
  | 'webhook_disabled'
  | 'webhook_unhealthy'
  | 'webhook_recovered'
  | 'account_not_refreshed'
  | 'run_given_up'
  | 'events_refused'
  | 'quota_exceeded'
  | 'disk_low';

export interface PlatformEvent {
  readonly kind: PlatformEventKind;
  readonly workspaceId: string;
  /** Id of the resource that the event concerns. */
  readonly subject: string;
  readonly message: string;
}

export interface PlatformEventsDependencies {
  readonly log: Pick<StreamLog, 'createTopic' | 'publish'>;
  readonly topics: TopicPolicy;
  readonly clock: Clock;
  readonly logger: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** Period in which one kind of event about one subject is reported once. */
const ONCE_IN_MS = 10 * 60_000;
const REMEMBERED = 10_000;
/** Reports that may wait for the log. Beyond them they are only logged. */
const IN_FLIGHT = 200;
/** Spreads the event ids of several processes, which know nothing of each other's. */
const SEQUENCES = 1_000_000;

/**
 * Reports to the users of a workspace what the platform did to their resources, as events of the workspace on
 * `$platform`. A process reports each kind about each subject once in ten minutes. Several processes may each report
 * it, under one emit id.
 */
export class PlatformEvents {
  /** Period in which each kind and subject was last reported. */
  private readonly told = new Map<string, number>();
  private readonly workspaces = new Set<string>();
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly deps: PlatformEventsDependencies) {}

  /** Never throws and never waits. An event that cannot be stored is logged, and may be reported again at once. */
  report(event: PlatformEvent): void {
    const { clock, logger } = this.deps;
    const { kind, workspaceId, subject, message } = event;
    const period = Math.floor(clock.now() / ONCE_IN_MS);
    const key = `${workspaceId}/${kind}/${subject}`;
    if (this.told.get(key) === period) return;
    if (this.told.size >= REMEMBERED) this.told.clear();
    this.told.set(key, period);
    logger.warn({ kind, workspace: workspaceId, subject }, `platform_event: ${message}`);
    if (this.running.size >= IN_FLIGHT) return;
    const running = this.publish(event, `${key}/${period}`)
      .catch((error: unknown) => {
        this.told.delete(key);
        logger.error({ kind, workspace: workspaceId, subject, err: error }, 'platform_event.not_stored');
      })
      .finally(() => this.running.delete(running));
    this.running.add(running);
  }

  /** Resolves when the event is durable. @param occurrence text that is equal for a repeat, for its emit id. */
  async publish({ kind, workspaceId, subject, message }: PlatformEvent, occurrence: string): Promise<void> {
    const { log, topics, clock } = this.deps;
    await this.openTopics(workspaceId);
    const now = clock.now();
    const emit = emitIds(`platform/${occurrence}`, Math.floor(now / ONCE_IN_MS) * ONCE_IN_MS)(0);
    const headers: EmitHeaders = {
      kind: 'emit',
      id: `${now}-${sequenceOf(emit)}`,
      emitter: workspaceId,
      workspace: workspaceId,
      channel: PLATFORM_CHANNEL,
      emit,
      hops: '0',
      subject,
    };
    const value = JSON.stringify({ kind, subject, message, ts: new Date(now).toISOString() });
    await log.publish([{ topic: topics.emits(workspaceId), key: workspaceId, headers, value }]);
  }

  /** Resolves when every reported event is stored. */
  async idle(): Promise<void> {
    await Promise.all(this.running);
  }

  private async openTopics(workspaceId: string): Promise<void> {
    if (this.workspaces.has(workspaceId)) return;
    await createOwnedTopics(this.deps.log, this.deps.topics, workspaceId);
    this.workspaces.add(workspaceId);
  }
}

const sequenceOf = (emitId: string): number => {
  let sequence = 0;
  for (let i = 0; i < emitId.length; i++) sequence = (sequence * 31 + emitId.charCodeAt(i)) % SEQUENCES;
  return sequence;
};
