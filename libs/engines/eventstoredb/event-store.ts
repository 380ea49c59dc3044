import {
  BACKWARDS,
  END,
  FORWARDS,
  MaxAppendSizeExceededError,
  START as FIRST,
  StreamNotFoundError,
  WrongExpectedVersionError,
  type Direction,
  type ReadPosition,
  type ReadRevision,
} from '@eventstore/db-client';
import { withDeadline } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { RefusedStart } from '#libs/config/refused-start.js';
import {
  AppendTooLarge,
  RevisionConflict,
  type AppendResult,
  type EventBatch,
  type EventStore,
  type ExpectedRevision,
  type ReadOptions,
} from '#libs/kernel/event-store.js';
import { type NewEvent, type Position, type RecordedEvent } from '#libs/kernel/events.js';
import { connect, itemsOf, type Connection, type ConnectOptions } from './connection.js';
import { KnownEnd } from './known-end.js';
import { logPositionOf, textOf } from './positions.js';
import { appendBytes, eventDataOf, recordedEvent, UnreadableEvent } from './recorded-event.js';
import { Attempts, Outage, repeated } from './repeated.js';
import { settled, type Look } from './settled.js';
import { streamNames, type StreamNames } from './stream-names.js';
import { follow, type LostServer } from './subscription.js';
import { refuseOldServer } from './server-version.js';

const OPEN_MS = 3_000;
const DENIED_AGAIN_MS = 2_000;
const PING_MS = 2_000;
/** Deadline of an append at the server. The client waits longer, in case it loses the answer. */
const APPEND_DEADLINE_MS = 20_000;
const APPEND_MS = 22_000;
/** Events of one read that the client buffers before they are consumed. */
const READ_AHEAD = 256;
const LARGEST_PAGE = 1_024;

export interface EventStoreDbOptions {
  /** `esdb://[user:password@]host:port[,…][?tls=false]`, or `esdb+discover://…`. */
  readonly url: string;
  /** Letters, digits, `_`, `.`. Separates installations and test runs on one cluster (stream-names.ts). */
  readonly prefix: string;
  /** Called once each time that a subscription loses the server, and once for the first event of another program. */
  readonly onWarning: (text: string, fields: object) => void;
  /** Default false (docs/adr/0013). */
  readonly batchAppend?: boolean;
}

/** Rejects within about 3 s, naming the server, when it does not answer; with RefusedStart when it may not be used. */
export const openEventStoreDb = async (options: EventStoreDbOptions): Promise<EventStoreDbEventStore> => {
  const { url, prefix, onWarning, batchAppend = false } = options;
  const names = streamNames(prefix);
  const connection = connect({ url, batchAppend, onWarning });
  try {
    await allowed(connection);
    await refuseOldServer(connection, OPEN_MS);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return new EventStoreDbEventStore(connection, { url, batchAppend }, names, onWarning);
};

/** Rejects with RefusedStart when the server denies access twice. A starting server may not know its users yet. */
const allowed = async (connection: Connection): Promise<void> => {
  try {
    await connection.ping(OPEN_MS);
  } catch (error) {
    if (!(error instanceof RefusedStart)) throw error;
    await pause(DENIED_AGAIN_MS);
    await connection.ping(OPEN_MS);
  }
};

/**
 * EventStore on EventStoreDB 23.10 or later (docs/adr/0013). Calls are repeated while the cluster elects a leader, and
 * for about three seconds when the server is away for longer. The server absorbs an append repeated under the same ids.
 */
export class EventStoreDbEventStore implements EventStore {
  private readonly end = new KnownEnd();
  private readonly outage = new Outage();
  private readonly closing = new AbortController();
  private hasSkipped = false;

  constructor(
    private readonly connection: Connection,
    private readonly connectOptions: ConnectOptions,
    private readonly names: StreamNames,
    private readonly onWarning: EventStoreDbOptions['onWarning'],
  ) {}

  /**
   * Returns the position of the last event, as readers see it: a reader that has applied all events is there.
   * Rejects with AppendTooLarge above the server's limit for one append (1 MiB by default): large-data.ts avoids it.
   */
  async append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    if (events.length === 0) throw new Error(`append to ${stream} without events`);
    const data = events.map(eventDataOf);
    const name = this.names.onServer(stream);
    const write = (): Promise<AppendResult> =>
      repeated(this.outage, async () => {
        const deadline = APPEND_DEADLINE_MS;
        const options = { expectedRevision: expected, deadline, requiresLeader };
        const appending = this.connection.client.appendToStream(name, data, options);
        const appended = await withDeadline(appending, APPEND_MS, `append to ${name}`);
        const { nextExpectedRevision: revision, position } = appended;
        return { revision, position: position ? textOf(position) : await this.positionOf(stream, revision) };
      });
    try {
      return await settled(write(), () => this.lookFor(stream, events, expected));
    } catch (error) {
      if (error instanceof MaxAppendSizeExceededError) {
        const bytes = events.reduce((sum, event) => sum + appendBytes(event), 0);
        throw new AppendTooLarge(stream, bytes, error.maxAppendSize ?? 0);
      }
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      throw new RevisionConflict(stream, expected, revisionOf(error));
    }
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncIterable<RecordedEvent> {
    const { direction = 'forwards', limit = Number.MAX_SAFE_INTEGER } = options;
    const forwards = direction === 'forwards';
    const step = forwards ? 1n : -1n;
    let from: ReadRevision = options.from ?? (forwards ? FIRST : END);
    let left = limit;
    let read = 0;
    let end: bigint | undefined;
    const attempts = new Attempts(this.outage);
    // After a lost connection, continue where the read was. The consumer does not notice.
    while (left > 0) {
      try {
        for await (const event of this.readOnce(stream, forwards ? FORWARDS : BACKWARDS, from, left)) {
          yield event;
          attempts.succeeded();
          left -= 1;
          from = event.revision + step;
          if (from < 0n || event.revision === end) return;
          if (++read === LARGEST_PAGE && forwards) end = await this.lastRevision(stream);
        }
        attempts.succeeded();
        return;
      } catch (error) {
        await attempts.failed(error);
      }
    }
  }

  async readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    if (limit <= 0) return [];
    const fromPosition = logPositionOf(after);
    return repeated(this.outage, async () => {
      const events: RecordedEvent[] = [];
      // Ask for one more than wanted, because the server begins with the event at the position itself.
      for await (const { event } of this.readLog(FORWARDS, fromPosition, Math.min(limit + 1, LARGEST_PAGE))) {
        if (event && event.position > after) events.push(event);
        if (events.length === limit) break;
      }
      return events;
    });
  }

  /** Searches back from the end of the log for an own event, towards the readers of this process (known-end.ts). */
  async lastPosition(): Promise<Position> {
    return repeated(this.outage, () => this.end.search(this.readLog(BACKWARDS, END, 2)));
  }

  subscribe(after: Position, signal: AbortSignal): AsyncIterable<EventBatch> {
    return follow({
      after,
      signal: AbortSignal.any([signal, this.closing.signal]),
      connect: () => connect(this.connectOptions),
      names: this.names,
      end: this.end,
      onLost: (lost) => this.warn(lost),
      onForeign: this.skipForeign,
    });
  }

  /** Rejects within 2 s, naming the server, when it does not answer. */
  ping(): Promise<void> {
    return this.connection.ping(PING_MS);
  }

  /** Ends the subscriptions, then the connection. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.connection.close();
  }

  private warn({ error, after, outages }: LostServer): void {
    const text = `a subscription to the event log lost EventStoreDB at ${this.connection.server}; it is tried again`;
    this.onWarning(text, { err: error, after, outages });
  }

  private readonly skipForeign = (event: string): void => {
    if (this.hasSkipped) return;
    this.hasSkipped = true;
    this.onWarning('another program writes to streams named like those of this installation; its events are skipped', {
      first: event,
    });
  };

  /** Whether the events of an append are in the stream, right after the expected revision. */
  private async lookFor(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<Look<AppendResult>> {
    const first = expected === 'no_stream' ? 0n : expected + 1n;
    let found: AppendResult | undefined;
    let n = 0;
    for await (const { id, revision, position } of this.readOnce(stream, FORWARDS, first, events.length)) {
      if (id !== events[n++]?.id) return 'other events';
      found = { revision, position };
    }
    return found && n === events.length ? { found } : 'nothing yet';
  }

  private async lastRevision(stream: string): Promise<bigint | undefined> {
    for await (const { revision } of this.readOnce(stream, BACKWARDS, END, 1)) return revision;
    return undefined;
  }

  /** For servers that answer a repeated append without the position of the events. */
  private async positionOf(stream: string, revision: bigint): Promise<Position> {
    for await (const event of this.readOnce(stream, FORWARDS, revision, 1)) return event.position;
    throw new Error(`event ${revision} of stream ${stream} was appended and is not there`);
  }

  private async *readOnce(
    stream: string,
    direction: Direction,
    fromRevision: ReadRevision,
    maxCount: number,
  ): AsyncIterable<RecordedEvent> {
    const options = { direction, fromRevision, maxCount, requiresLeader };
    const reading = this.connection.client.readStream(this.names.onServer(stream), options, readAhead);
    try {
      for await (const resolved of itemsOf(reading)) {
        // An append after this revision was refused, so the state of the stream is unknown without this event.
        const event = recordedEvent(resolved, this.names.own, (foreign) => {
          throw new UnreadableEvent(foreign, 'another program wrote it');
        });
        if (event) yield event;
      }
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error;
    }
  }

  /**
   * Every event of the log with its position; `event` only for own events. Reads in pages, the first of `firstPage`
   * events, because the server sends a whole page even when the read ends early. (The client cannot filter such reads.)
   */
  private async *readLog(
    direction: Direction,
    start: ReadPosition,
    firstPage: number,
  ): AsyncIterable<{ position: Position; event: RecordedEvent | undefined }> {
    let fromPosition = start;
    let last: Position | undefined;
    for (let maxCount = firstPage; ; maxCount = Math.min(maxCount * 8, LARGEST_PAGE)) {
      const reading = this.connection.client.readAll({ direction, fromPosition, maxCount, requiresLeader }, readAhead);
      let read = 0;
      for await (const resolved of itemsOf(reading)) {
        read += 1;
        if (!resolved.event) continue;
        const position = textOf(resolved.event.position);
        if (position === last) continue;
        last = position;
        fromPosition = resolved.event.position;
        yield { position, event: recordedEvent(resolved, this.names.own, this.skipForeign) };
      }
      if (read < maxCount) return;
    }
  }
}

const readAhead = { highWaterMark: READ_AHEAD };

/** Another node may not have the newest events yet. The client follows the server's redirection to the leader. */
const requiresLeader = true;

const revisionOf = ({ actualVersion }: WrongExpectedVersionError): ExpectedRevision =>
  typeof actualVersion === 'bigint' ? actualVersion : 'no_stream';
