import { type EventStore, type ExpectedRevision } from '#libs/kernel/event-store.js';
import { positionOf, type EventMetadata, type RecordedEvent } from '#libs/kernel/events.js';
import { openEmbedded, type EmbeddedEngines } from '#libs/engines/embedded/index.js';

/** Bytes of the transaction file per event here. Positions have gaps, as on a real server. */
const STRIDE = 137n;

export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface LoggedEvent extends ProposedEvent {
  readonly stream: string;
  readonly revision: bigint;
  /** Commit and prepare position, which are equal for events written outside a transaction. */
  readonly place: bigint;
  readonly createdAt: number;
}

export interface LogBatch {
  readonly events: readonly LoggedEvent[];
  readonly caughtUp: boolean;
}

/** The server's log: events as bytes in the embedded event store. An append resolves once it is durable. */
export class Log {
  private constructor(
    private readonly engines: EmbeddedEngines,
    private readonly events: EventStore,
  ) {}

  static async open(dataDir: string, onFatal: (error: Error) => void): Promise<Log> {
    const clock = { now: () => Date.now() };
    const engines = await openEmbedded({ dataDir, secretKey: Buffer.alloc(32), clock, onFatal });
    return new Log(engines, engines.events);
  }

  /** Rejects with RevisionConflict. */
  async append(
    stream: string,
    proposed: readonly ProposedEvent[],
    expected: ExpectedRevision,
  ): Promise<{ revision: bigint; place: bigint }> {
    const events = proposed.map(({ id, type, contentType, data, metadata }) => ({
      id,
      type,
      metadata: NONE,
      data: { contentType, data: encoded(data), metadata: encoded(metadata) },
    }));
    const { revision, position } = await this.events.append(stream, events, expected);
    return { revision, place: placeOf(position) };
  }

  async *readStream(
    stream: string,
    direction: 'forwards' | 'backwards',
    from: bigint | undefined,
    limit: number,
  ): AsyncIterable<LoggedEvent> {
    const options = { direction, limit, ...(from === undefined ? {} : { from }) };
    for await (const event of this.events.read(stream, options)) yield logged(event);
  }

  async exists(stream: string): Promise<boolean> {
    for await (const _ of this.events.read(stream, { limit: 1 })) return true;
    return false;
  }

  /** Up to `limit` events, the first at `from` or after it. */
  async pageForwards(from: bigint, limit: number): Promise<readonly LoggedEvent[]> {
    const before = from === 0n ? 0n : (from - 1n) / STRIDE;
    return (await this.events.readAll(positionOf(before), limit)).map(logged);
  }

  /** Returns up to `limit` events, newest first, the first before `end`; from the end of the log without it. */
  async pageBackwards(end: bigint | undefined, limit: number): Promise<readonly LoggedEvent[]> {
    const newest = BigInt(await this.events.lastPosition());
    const beforeEnd = end === undefined ? newest : (end - 1n) / STRIDE;
    const last = end === 0n ? 0n : beforeEnd < newest ? beforeEnd : newest;
    const first = last > BigInt(limit) ? last - BigInt(limit) : 0n;
    // Positions of the embedded log count its events, so a page is a range of them.
    const page = await this.events.readAll(positionOf(first), Number(last - first));
    return page.map(logged).reverse();
  }

  /** All events behind `after`, then live ones, until aborted. */
  async *follow(after: bigint | 'end', signal: AbortSignal): AsyncIterable<LogBatch> {
    const from = after === 'end' ? await this.events.lastPosition() : positionOf(after / STRIDE);
    for await (const { events, caughtUp } of this.events.subscribe(from, signal)) {
      yield { events: events.map(logged), caughtUp };
    }
  }

  close(): Promise<void> {
    return this.engines.close();
  }
}

interface Envelope {
  readonly contentType: string;
  readonly data: string;
  readonly metadata: string;
}

const NONE: EventMetadata = {
  $correlationId: '',
  $causationId: '',
  commandId: '',
  workspaceId: '',
  schemaVersion: 1,
  actor: { userId: '', apiKeyId: null },
};

const placeOf = (position: string): bigint => BigInt(position) * STRIDE;

const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const decoded = (text: string): Uint8Array => Buffer.from(text, 'latin1');

const logged = ({ id, type, data, stream, revision, position, recordedAt }: RecordedEvent): LoggedEvent => {
  const envelope = data as Envelope;
  return {
    id,
    type,
    stream,
    revision,
    place: placeOf(position),
    createdAt: recordedAt,
    contentType: envelope.contentType,
    data: decoded(envelope.data),
    metadata: decoded(envelope.metadata),
  };
};
