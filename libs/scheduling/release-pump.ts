import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DELAYED_CHANNEL } from '#libs/component-model/channels.js';
import { type DelayedEvents, type DueEvent } from '#libs/stream-log/delayed-events.js';
import { type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';

export interface ReleasePumpOptions {
  readonly log: Pick<StreamLog, 'publish'>;
  readonly topics: Pick<TopicPolicy, 'emits'>;
  readonly delayed: Pick<DelayedEvents, 'due' | 'putOff' | 'remove'>;
  readonly clock: Clock;
  readonly onFailure: (error: unknown, retryInMs: number) => void;
  /** Time between two looks. */
  readonly pollMs?: number;
}

const BATCH = 256;
const POLL_MS = 500;
/** Time after which an event that is due, and still there, is announced again. */
const AGAIN_MS = 30_000;

/**
 * Tells the lane of a source that an event has waited long enough. The router then sends it out, unless it was
 * cancelled earlier in the lane. For one process at a time; two at once do no harm but announce an event twice.
 */
export const startReleasePump = (options: ReleasePumpOptions): { close(): Promise<void> } => {
  const stopped = new AbortController();
  const running = run(options, stopped.signal);
  return {
    async close() {
      stopped.abort();
      await running;
    },
  };
};

const run = async (options: ReleasePumpOptions, stopped: AbortSignal): Promise<void> => {
  const backoff = new Backoff({ firstMs: 100, longestMs: 5_000 });
  while (!stopped.aborted) {
    try {
      if ((await announce(options)) === BATCH) continue;
      backoff.reset();
      await pause(options.pollMs ?? POLL_MS, stopped);
    } catch (error) {
      const retryInMs = backoff.next();
      options.onFailure(error, retryInMs);
      await pause(retryInMs, stopped);
    }
  }
};

/** Announces one batch and returns its size. A crash after the records are published announces it again. */
const announce = async ({ log, topics, delayed, clock }: ReleasePumpOptions): Promise<number> => {
  const now = clock.now();
  const due = await delayed.due(now, BATCH);
  if (due.length === 0) return 0;
  const offsets = await log.publish(due.map((event) => announcement(topics.emits(event.sourceId), event, now)));
  // The source of a record whose topic is gone was deleted.
  const gone = due.filter((_, i) => offsets[i] === null);
  await delayed.remove(gone);
  await delayed.putOff(due, now + AGAIN_MS);
  return due.length;
};

const announcement = (topic: string, { sourceId, workspaceId, eventId, emitId }: DueEvent, now: number): LogRecord => {
  const headers: EmitHeaders = {
    kind: 'due',
    id: `${now}-0`,
    emitter: sourceId,
    workspace: workspaceId,
    channel: DELAYED_CHANNEL,
    emit: emitId,
    hops: '0',
    event: eventId,
  };
  return { topic, key: sourceId, headers, value: 'null' };
};
