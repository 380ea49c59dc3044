import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DELAYED_CHANNEL } from '#libs/component-model/channels.js';
import { type DelayedEvents, type DueEvent } from '#libs/stream-log/delayed-events.js';
import { EntriesOnTheirWay } from '#libs/stream-log/entries-on-their-way.js';
import { type DueHeaders } from '#libs/stream-log/envelopes.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';

export interface ReleasePumpOptions {
  readonly log: Pick<StreamLog, 'publishEach'>;
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

type OnTheirWay = EntriesOnTheirWay<DueEvent>;

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
  const { log, onFailure, pollMs = POLL_MS } = options;
  const backoff = new Backoff({ firstMs: 100, longestMs: 5_000 });
  const onTheirWay: OnTheirWay = new EntriesOnTheirWay({ log, onFailure, changed: () => undefined });
  while (!stopped.aborted) {
    try {
      if ((await announce(options, onTheirWay)) === BATCH) continue;
      backoff.reset();
      await pause(pollMs, stopped);
    } catch (error) {
      const retryInMs = backoff.next();
      onFailure(error, retryInMs);
      await pause(retryInMs, stopped);
    }
  }
  onTheirWay.close();
};

/**
 * Announces one batch and returns its size. A crash after the records are published announces it again. While the lane
 * of a source cannot be written, its events stay where they are, in their order.
 */
const announce = async (options: ReleasePumpOptions, onTheirWay: OnTheirWay): Promise<number> => {
  const { topics, delayed, clock } = options;
  // Before events are read, or those of a source that is free again would be announced twice.
  await putOff(options, onTheirWay);
  if (onTheirWay.isFull) return 0;
  const now = clock.now();
  const due = await delayed.due(now, BATCH, onTheirWay.owners());
  if (due.length === 0) return 0;
  const outgoing = due.map((entry) => {
    const { sourceId } = entry;
    return { entry, owner: sourceId, record: announcement(topics.emits(sourceId), entry, now) };
  });
  await onTheirWay.publish(outgoing);
  await putOff(options, onTheirWay);
  return due.length;
};

const putOff = async ({ delayed, clock }: ReleasePumpOptions, onTheirWay: OnTheirWay): Promise<void> => {
  const written = onTheirWay.durable();
  if (written.length === 0) return;
  // The source of a record whose topic is gone was deleted.
  const gone = written.filter(({ offset }) => offset === null);
  await delayed.remove(gone.map(({ entry }) => entry));
  await delayed.putOff(
    written.map(({ entry }) => entry),
    clock.now() + AGAIN_MS,
  );
  onTheirWay.removed(written);
};

const announcement = (topic: string, { sourceId, workspaceId, eventId, emitId }: DueEvent, now: number): LogRecord => {
  const headers: DueHeaders = {
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
