import { type Clock } from '#libs/kernel/clock.js';
import {
  type AppendResult,
  type EventBatch,
  type EventStore,
  type ExpectedRevision,
  type ReadOptions,
} from '#libs/kernel/event-store.js';
import {
  positionOf,
  type DomainEvent,
  type EventMetadata,
  type NewEvent,
  type Position,
  type RecordedEvent,
} from '#libs/kernel/events.js';
import { type Database } from '../writer/sqlite-driver.js';
import { nextTurn, ROWS_PER_TURN } from '../yielding.js';
import { type Writer } from '../writer/writer.js';

interface EventRow {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
  readonly recorded_at: number;
}

const SUBSCRIPTION_BATCH = 256;

/** EventStore on events.db: appends through the writer thread, reads on the main thread. */
export class EmbeddedEventStore implements EventStore {
  /** Position of the newest durable event. Live subscriptions wait for it to advance. */
  private last: number;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
    private readonly clock: Clock,
  ) {
    this.last = this.newest();
  }

  async append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    if (events.length === 0) throw new Error(`append to ${stream} without events`);
    const rows: string[] = [];
    let bytes = 0;
    for (const { id, type, data, metadata } of events) {
      const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)];
      bytes += dataText.length + metadataText.length + 200;
      rows.push(id, type, dataText, metadataText);
    }
    const from = expected === 'no_stream' ? -1 : Number(expected);
    return new Promise((resolve, reject) => {
      this.writer.send(
        'append',
        { stream, expected: from, events: rows, at: this.clock.now() },
        (error, result) => {
          if (error || !result) {
            reject(error ?? new Error('the writer gave no result'));
            return;
          }
          this.moved(result.position);
          resolve({ revision: BigInt(result.revision), position: positionOf(result.position) });
        },
        { bytes },
      );
    });
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncIterable<RecordedEvent> {
    const forwards = options.direction !== 'backwards';
    const sql = `SELECT * FROM events WHERE stream = ? AND revision ${forwards ? '>=' : '<='} ? AND revision <= ?
      ORDER BY revision ${forwards ? 'ASC' : 'DESC'} LIMIT ?`;
    let end: number | undefined;
    let from = options.from === undefined ? (forwards ? 0 : Number.MAX_SAFE_INTEGER) : Number(options.from);
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    while (left > 0) {
      const limit = Math.min(left, ROWS_PER_TURN);
      const rows = this.reader.sql(sql).all<EventRow>(stream, from, end ?? Number.MAX_SAFE_INTEGER, limit);
      for (const row of rows) yield recorded(row);
      const last = rows.at(-1);
      if (!last || rows.length < limit) return;
      end ??= this.lastRevision(stream);
      left -= rows.length;
      from = last.revision + (forwards ? 1 : -1);
      await nextTurn();
    }
  }

  async readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    let from = Number(after);
    while (events.length < limit) {
      const wanted = Math.min(limit - events.length, ROWS_PER_TURN);
      const rows = this.reader
        .sql('SELECT * FROM events WHERE position > ? ORDER BY position LIMIT ?')
        .all<EventRow>(from, wanted);
      for (const row of rows) events.push(recorded(row));
      from = rows.at(-1)?.position ?? from;
      if (rows.length < wanted) break;
      if (events.length < limit) await nextTurn();
    }
    return events;
  }

  async lastPosition(): Promise<Position> {
    return positionOf(this.newest());
  }

  async *subscribe(after: Position, signal: AbortSignal): AsyncIterable<EventBatch> {
    let position = after;
    let saidCaughtUp = false;
    const end = positionOf(this.newest());
    while (!signal.aborted) {
      const events = await this.readAll(position, SUBSCRIPTION_BATCH);
      if (signal.aborted) return;
      position = events.at(-1)?.position ?? position;
      const isAll = events.length < SUBSCRIPTION_BATCH;
      const caughtUp: boolean = isAll || (!saidCaughtUp && position >= end);
      if (events.length > 0 || !saidCaughtUp) {
        saidCaughtUp ||= caughtUp;
        yield { events, caughtUp, position };
      }
      if (isAll) await this.movedPast(Number(position), signal);
    }
  }

  private lastRevision(stream: string): number {
    const sql = 'SELECT max(revision) AS last FROM events WHERE stream = ?';
    return this.reader.sql(sql).get<{ last: number | null }>(stream)?.last ?? -1;
  }

  private newest(): number {
    return this.reader.sql('SELECT max(position) AS last FROM events').get<{ last: number | null }>()?.last ?? 0;
  }

  private moved(position: number): void {
    if (position <= this.last) return;
    this.last = position;
    for (const wake of [...this.waiting]) wake();
  }

  private async movedPast(position: number, signal: AbortSignal): Promise<void> {
    if (this.last > position || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}

const recorded = (row: EventRow): RecordedEvent<DomainEvent> => {
  const metadata = JSON.parse(row.metadata) as EventMetadata;
  return {
    id: row.id,
    type: row.type,
    data: JSON.parse(row.data) as object,
    metadata,
    stream: row.stream,
    revision: BigInt(row.revision),
    position: positionOf(row.position),
    recordedAt: metadata.$recordedAt ?? row.recorded_at,
  };
};
