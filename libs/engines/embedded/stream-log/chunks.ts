import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type Database } from '../writer/sqlite-driver.js';
import { RecordCursor } from './packed-records.js';

/**
 * A row of `chunks` holds the records of one topic that were committed together, in order of their offsets. Their offsets
 * may have gaps, because all topics share one sequence. Chunks of a topic do not overlap. A chunk is dropped as a whole.
 */
export interface ChunkRow {
  /** Offset of its first record. */
  readonly first: number;
  readonly records: Uint8Array;
}

/** Largest size of a chunk, unless one record is larger. A reader of one record reads its whole chunk. */
export const CHUNK_BYTES = 64 << 10;

/** Records that a transaction has appended, gathered into chunks. */
export class OpenChunks {
  private readonly open = new Map<number, OpenChunk>();
  private full: OpenChunk[] = [];

  add(topic: number, record: RecordCursor, offset: number): void {
    let chunk = this.open.get(topic);
    if (!chunk || chunk.isFull) {
      if (chunk) this.full.push(chunk);
      this.open.set(topic, (chunk = new OpenChunk(topic, offset)));
    }
    chunk.add(record, offset);
  }

  /** Writes all chunks. Call it at the end of the transaction. */
  write(db: Database): void {
    for (const chunk of this.full) chunk.write(db);
    for (const chunk of this.open.values()) chunk.write(db);
    this.clear();
  }

  forget(topic: number): void {
    this.open.delete(topic);
    this.full = this.full.filter((chunk) => chunk.topic !== topic);
  }

  clear(): void {
    this.open.clear();
    this.full = [];
  }
}

class OpenChunk {
  private readonly parts: Buffer[] = [];
  private last: number;
  private size = 0;
  private at = 0;

  constructor(
    readonly topic: number,
    private readonly first: number,
  ) {
    this.last = first;
  }

  get isFull(): boolean {
    return this.size >= CHUNK_BYTES;
  }

  add(record: RecordCursor, offset: number): void {
    record.offset = offset - this.first;
    this.last = offset;
    this.size += record.size;
    this.at = Math.max(this.at, record.at);
    this.parts.push(record.whole());
  }

  write(db: Database): void {
    const { last, topic, first, parts, size, at } = this;
    const records = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    db.sql('INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)').run(last, topic, first, parts.length, size, at, records);
  }
}

/**
 * Highest offset ever assigned. The offset of a dropped record must not be reused, because groups have committed past
 * it.
 */
export const lastOffset = (db: Database): number =>
  db
    .sql('SELECT max(coalesce((SELECT max(last) FROM chunks), -1), (SELECT id FROM last_record)) AS id')
    .get<{ id: number }>()?.id ?? -1;

/**
 * Calls `visit` for the records of a chunk with offset in (after, upTo], until it returns false. Returns whether all
 * were visited.
 */
export const visitRecords = (
  { first, records }: ChunkRow,
  { after, upTo }: { readonly after: number; readonly upTo: number },
  visit: (record: RecordCursor, offset: number) => boolean,
): boolean => {
  const record = new RecordCursor(Buffer.from(records.buffer, records.byteOffset, records.byteLength));
  while (record.forward()) {
    const offset = first + record.offset;
    if (offset > upTo) return true;
    if (offset > after && !visit(record, offset)) return false;
  }
  return true;
};

export const storedRecord = (topic: string, record: RecordCursor, offset: number): StoredRecord => {
  const { key, headers, value } = record.texts();
  return {
    topic,
    lane: topic,
    key,
    headers: JSON.parse(headers) as Record<string, string>,
    value,
    offset,
    timestamp: record.at,
    size: record.size,
  };
};

/** Number and bytes of the records of a topic with offset in (after, upTo]. Reads only the chunks that both ends cut. */
export const countRecords = (
  db: Database,
  topic: number,
  range: { readonly after: number; readonly upTo: number },
): { n: number; bytes: number } => {
  const { after, upTo } = range;
  const whole = db
    .sql(
      'SELECT coalesce(sum(n), 0) AS n, coalesce(sum(size), 0) AS bytes FROM chunks WHERE topic = ? AND last > ? AND last <= ? AND first > ?',
    )
    .get<{ n: number; bytes: number }>(topic, after, upTo, after);
  let { n, bytes } = whole ?? { n: 0, bytes: 0 };
  const cut = [
    ...db
      .sql('SELECT first, records FROM chunks WHERE topic = ? AND last > ? AND first <= ? ORDER BY last LIMIT 1')
      .all<ChunkRow>(topic, after, after),
    ...db
      .sql(
        'SELECT first, records FROM chunks WHERE topic = ? AND last > ? AND first <= ? AND first > ? ORDER BY last LIMIT 1',
      )
      .all<ChunkRow>(topic, upTo, upTo, after),
  ];
  for (const chunk of cut) {
    visitRecords(chunk, range, ({ size }) => {
      n++;
      bytes += size;
      return true;
    });
  }
  return { n, bytes };
};
