import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { messageOf } from '#libs/kernel/error-message.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { Database } from './writer/sqlite-driver.js';
import { FILES } from './writer/schema.js';

/** Most faults that are listed for one file. */
const MOST_FAULTS = 10;

export interface CheckedFile {
  readonly name: string;
  /** Empty for a file that is whole. */
  readonly faults: readonly string[];
}

/**
 * Checks each database of a data directory: the structure of every page, and that rows and indexes agree. Reads each
 * file completely. No writer may be active.
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

/** Hashes of the blobs whose content does not match, because a disk damaged it or a program changed it. */
export async function* damagedBlobs(blobs: Pick<BlobStore, 'hashes' | 'get'>): AsyncIterable<string> {
  for await (const hash of blobs.hashes()) {
    const text = await blobs.get(hash);
    if (text === undefined || createHash('sha256').update(text, 'utf8').digest('hex') !== hash) yield hash;
  }
}
