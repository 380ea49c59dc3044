import { textIn, type Database } from '../writer/sqlite-driver.js';
import { OpenChunks } from './chunks.js';
import { packedBytes, packRecord, RecordCursor, textBytes } from './packed-records.js';

interface OldRow {
  readonly id: number;
  readonly topic: number;
  readonly size: number;
  readonly at: number;
  readonly key: string | Uint8Array;
  readonly headers: string | Uint8Array;
  readonly value: string | Uint8Array;
}

/** Rows and about as many bytes moved in one transaction. */
const ROWS = 1_000;
const BYTES = 4 << 20;
const TELL_EVERY_MS = 5_000;

/**
 * Moves the records of a data.db of schema 6, a row each, into chunks, oldest first. Every transaction leaves each record
 * in one of the two tables, so a migration that was interrupted goes on where it was.
 */
export const moveIntoChunks = (db: Database, onProgress: (text: string) => void): void => {
  db.exec(
    `CREATE TABLE IF NOT EXISTS chunks(
       last INTEGER PRIMARY KEY, topic INTEGER NOT NULL, first INTEGER NOT NULL, n INTEGER NOT NULL,
       size INTEGER NOT NULL, at INTEGER NOT NULL, records BLOB NOT NULL);
     CREATE INDEX IF NOT EXISTS chunks_by_topic ON chunks(topic, last, first, n, size, at);`,
  );
  const all = db.sql('SELECT count(*) AS n FROM records').get<{ n: number }>()?.n ?? 0;
  let [moved, toldAt] = [0, performance.now()];
  for (let rows = oldest(db); rows.length > 0; rows = oldest(db)) {
    db.exec('BEGIN IMMEDIATE');
    gathered(rows).write(db);
    db.sql('DELETE FROM records WHERE id <= ?').run(rows.at(-1)?.id ?? -1);
    db.exec('COMMIT');
    moved += rows.length;
    if (performance.now() - toldAt < TELL_EVERY_MS) continue;
    toldAt = performance.now();
    onProgress(`moving events to the new format of data.db: ${moved} of ${all}`);
  }
};

const oldest = (db: Database): readonly OldRow[] => {
  const rows: OldRow[] = [];
  let bytes = 0;
  for (const row of db.sql('SELECT * FROM records ORDER BY id LIMIT ?').iterate<OldRow>(ROWS)) {
    rows.push(row);
    bytes += row.size;
    if (bytes >= BYTES) break;
  }
  return rows;
};

const gathered = (rows: readonly OldRow[]): OpenChunks => {
  const chunks = new OpenChunks();
  for (const { id, topic, at, ...stored } of rows) {
    const [key, headers, value] = [textIn(stored.key), textIn(stored.headers), textIn(stored.value)];
    const packed = Buffer.allocUnsafe(packedBytes(textBytes(key, headers, value)));
    packRecord(packed, 0, topic, at, { key, headers, value });
    const record = new RecordCursor(packed);
    record.forward();
    chunks.add(topic, record, id);
  }
  return chunks;
};
