import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import {
  AppendTooLarge,
  type AppendResult,
  type EventBatch,
  type EventStore,
  type ExpectedRevision,
  type ReadOptions,
} from '#libs/kernel/event-store.js';
import { type NewEvent, type Position, type RecordedEvent } from '#libs/kernel/events.js';
import { appendBytes } from './recorded-event.js';

/** Default limit of EventStoreDB for one append. A refusal that names a lower limit replaces it. */
const APPEND_BYTES = 1024 * 1024;
/** Reserved for the server's additions. */
const MARGIN = 8 * 1024;
/** Data below this stays in the log, because a reference is hardly smaller. */
const WORTH_BYTES = 1024;
/** Bytes of blobs that are read at once. A page or batch with more is returned in parts. */
const AT_ONCE_BYTES = 8 * 1024 * 1024;
const PAUSES = { firstMs: 100, longestMs: 10_000, jitter: 0.5 };

type Blobs = Pick<BlobStore, 'put' | 'get'>;

/** A blob that an event of the log needs is missing. A retry does not help. */
export class MissingData extends Error {
  override readonly name = 'MissingData';
}

/**
 * Lifts the limit of a server on the size of an append. The data of large events is stored as a blob, and the log has
 * its hash. Events that fit are written unchanged.
 *
 * The blob is durable before the event. A process that dies in between leaves an unreferenced blob.
 */
export class LargeData implements EventStore {
  private limit = APPEND_BYTES;

  constructor(
    private readonly store: EventStore,
    private readonly blobs: Blobs,
  ) {}

  /** Rejects with AppendTooLarge when the events are too large even without their data. */
  async append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    for (;;) {
      const { limit } = this;
      try {
        return await this.store.append(stream, await this.lightened(stream, events), expected);
      } catch (error) {
        // The server has a lower limit.
        if (!(error instanceof AppendTooLarge) || error.limit >= limit) throw error;
        this.limit = Math.min(this.limit, error.limit);
      }
    }
  }

  async *read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent> {
    for await (const event of this.store.read(stream, options)) yield await this.whole(event);
  }

  /** May return fewer events than requested when their data is large. */
  async readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    for await (const part of this.parts(await this.store.readAll(after, limit))) return part;
    return [];
  }

  lastPosition(): Promise<Position> {
    return this.store.lastPosition();
  }

  /** While the blobs cannot be read, the reader waits. */
  async *subscribe(after: Position, signal: AbortSignal): AsyncIterable<EventBatch> {
    for await (const batch of this.store.subscribe(after, signal)) {
      let events: readonly RecordedEvent[] = [];
      for await (const part of this.parts(batch.events, signal)) {
        const position = events.at(-1)?.position;
        if (position !== undefined) yield { events, caughtUp: false, position };
        events = part;
      }
      if (signal.aborted) return;
      yield { events, caughtUp: batch.caughtUp, position: batch.position };
    }
  }

  /** Replaces the data of the largest events until the rest fits. */
  private async lightened(stream: string, events: readonly NewEvent[]): Promise<readonly NewEvent[]> {
    const budget = this.limit - MARGIN;
    let total = 0;
    const sizes = events.map((event, index) => {
      const size = appendBytes(event);
      total += size;
      return { index, size };
    });
    if (total <= budget) return events;
    const light = [...events];
    for (const { index } of sizes.sort((a, b) => b.size - a.size)) {
      const event = events[index];
      if (!event || total <= budget) break;
      const text = JSON.stringify(event.data);
      const bytes = Buffer.byteLength(text);
      if (bytes < WORTH_BYTES) continue;
      const hash = await this.blobs.put(text);
      const reference: NewEvent = { ...event, data: {}, metadata: { ...event.metadata, $data: hash } };
      light[index] = reference;
      total += appendBytes(reference) - appendBytes(event);
    }
    if (total > budget) throw new AppendTooLarge(stream, total, this.limit);
    return light;
  }

  private async whole(event: RecordedEvent): Promise<RecordedEvent> {
    const { $data: hash, ...metadata } = event.metadata;
    if (hash === undefined) return event;
    const text = await this.blobs.get(hash);
    if (text === undefined) {
      const named = `event ${event.revision} of stream ${event.stream}`;
      throw new MissingData(`${named} cannot be read: its data, blob ${hash}, is missing`);
    }
    return { ...event, data: JSON.parse(text) as object, metadata };
  }

  /** Yields the events with their data in parts of bounded size, or in one part when no data is in a blob. */
  private async *parts(
    events: readonly RecordedEvent[],
    retryUntil?: AbortSignal,
  ): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    let part: RecordedEvent[] = [];
    let bytes = 0;
    for (const event of events) {
      if (event.metadata.$data === undefined) {
        part.push(event);
        continue;
      }
      const whole = retryUntil ? await this.wholeInTime(event, retryUntil) : await this.whole(event);
      if (!whole) return;
      part.push(whole);
      bytes += Buffer.byteLength(JSON.stringify(whole.data));
      if (bytes < AT_ONCE_BYTES) continue;
      yield part;
      part = [];
      bytes = 0;
    }
    if (part.length > 0) yield part;
  }

  /** Tries again until the blob can be read. Undefined when aborted. */
  private async wholeInTime(event: RecordedEvent, signal: AbortSignal): Promise<RecordedEvent | undefined> {
    const backoff = new Backoff(PAUSES);
    while (!signal.aborted) {
      try {
        return await this.whole(event);
      } catch (error) {
        if (error instanceof MissingData) throw error;
        await pause(backoff.next(), signal);
      }
    }
    return undefined;
  }
}
