import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { messageOf } from '#libs/kernel/error-message.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { Database } from './writer/sqlite-driver.js';
import { FILES } from './writer/schema.js';

/** Faults of one file that are listed. */
const MOST_FAULTS = 10;

export interface CheckedFile {
  readonly name: string;
  /** Empty for a file that is whole. */
  readonly faults: readonly string[];
}

/**
 * Checks each database of a data directory: the structure of every page, and that rows and indexes agree. Reads each
 * file whole. Nothing may write meanwhile.
 */
export function* checkedDatabases(dataDir: string): Iterable<CheckedFile> {
  for (const file of FILES) yield { name: `${file}.db`, faults: faultsOf(join(dataDir, `${file}.db`)) };
}

const faultsOf = (path: string): readonly string[] => {
  let db: Database | undefined;
  try {
    db = new Database(path, { readOnly: true });
    const rows = db.sql(`PRAGMA integrity_check(${MOST_FAULTS})`).all<{ integrity_check: string }>();
    return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
  } catch (error) {
    return [messageOf(error)];
  } finally {
    db?.close();
  }
};

/** Hashes of the blobs whose content is another one, which a disk has damaged or a program changed. */
export async function* damagedBlobs(blobs: Pick<BlobStore, 'hashes' | 'get'>): AsyncIterable<string> {
  for await (const hash of blobs.hashes()) {
    const text = await blobs.get(hash);
    if (text === undefined || createHash('sha256').update(text, 'utf8').digest('hex') !== hash) yield hash;
  }
}
