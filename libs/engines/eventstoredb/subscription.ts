import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type EventBatch } from '#libs/kernel/event-store.js';
import { type Position, type RecordedEvent } from '#libs/kernel/events.js';
import { newestIn, type Connection } from './connection.js';
import { type KnownEnd } from './known-end.js';
import { LiveRead } from './live-read.js';
import { logPositionOf } from './positions.js';
import { recordedEvent, UnreadableEvent } from './recorded-event.js';
import { type StreamNames } from './stream-names.js';

/** Half of each pause is random, so that readers do not return together. */
const PAUSES = { firstMs: 100, longestMs: 10_000, jitter: 0.5 };

/** A subscription lost the server. */
export interface LostServer {
  readonly error: unknown;
  /** Position after which it resumes. */
  readonly after: Position;
  /** How many times this subscription has lost the server so far. */
  readonly outages: number;
}

export interface FollowOptions {
  readonly after: Position;
  readonly signal: AbortSignal;
  /** Opens a connection for each attempt, so that client state of a failed one does not reach the next. */
  readonly connect: () => Connection;
  readonly names: StreamNames;
  /** Records how far the log has been read. */
  readonly end: KnownEnd;
  readonly onLost: (lost: LostServer) => void;
  /** Called for each event that another program wrote to a stream with a name like ours. The event is skipped. */
  readonly onForeign: (event: string) => void;
}

/** The subscription of the port. It reads the log again and again, resuming after each failure. */
export async function* follow(options: FollowOptions): AsyncGenerator<EventBatch, void, undefined> {
  const { signal, onLost } = options;
  logPositionOf(options.after);
  const place: Place = { last: options.after, resumeAfter: options.after, told: false };
  let outages = 0;
  const backoff = new Backoff(PAUSES);
  while (!signal.aborted) {
    try {
      for await (const batch of readOn(options, place)) {
        backoff.reset();
        if (batch) yield batch;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof UnreadableEvent) throw error;
      if (backoff.count === 0) onLost({ error, after: place.last, outages: ++outages });
      await pause(backoff.next(), signal);
    }
  }
}

/** Progress of a subscription, from which each read of the log continues. */
interface Place {
  /** Position of the last yielded event. */
  last: Position;
  /** At or after `last`. Between the two the server saw only foreign events. */
  resumeAfter: Position;
  /** Whether the last batch reported that the reader has caught up. */
  told: boolean;
}

/** Yields batches of one read until it fails. Yields undefined when the server reports progress without own events. */
async function* readOn(options: FollowOptions, place: Place): AsyncGenerator<EventBatch | undefined, void, undefined> {
  const { signal, names, end, onForeign } = options;
  const connection = options.connect();
  const readerEnds = end.readerStarts();
  let live: LiveRead | undefined;
  let reachedEnd = false;
  try {
    // Read on the same connection and so from the same node. A subscription that has caught up with that node has
    // passed this position.
    const newest = await newestIn(connection.client);
    live = new LiveRead(connection.client, { after: place.resumeAfter, end: newest, names, signal });
    for (;;) {
      const batch = await live.next();
      if (!batch) return;
      const events = batch.events.flatMap((resolved): RecordedEvent[] => {
        const event = recordedEvent(resolved, names.own, onForeign);
        return event && event.position > place.last ? [event] : [];
      });
      place.last = events.at(-1)?.position ?? place.last;
      place.resumeAfter = batch.passed;
      // While others append without a pause, the server may never report it.
      const caughtUp: boolean = batch.caughtUp || (!reachedEnd && batch.passed >= newest);
      reachedEnd ||= caughtUp;
      end.learn(place.resumeAfter, place.last);
      const worthTelling = events.length > 0 || (caughtUp && !place.told);
      if (worthTelling) place.told = caughtUp;
      yield worthTelling ? { events, caughtUp, position: place.last } : undefined;
    }
  } finally {
    readerEnds();
    live?.close();
    await connection.close();
  }
}
