import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '#libs/config/make-directory.js';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { Database, isBusy } from './sqlite-driver.js';

/**
 * One process owns a data directory. The lock is the operating system's, on lock.db, held while the transaction is
 * open. It ends with the process in any case, so no lock becomes stale and a reused pid does not matter. `owner` only
 * shows people which process holds it.
 */
export class DataDirLock {
  private constructor(private readonly db: Database) {}

  /** Throws UnusableDataDirectory when another process, or this one, already owns the directory. */
  static acquire(dataDir: string): DataDirLock {
    makeDirectory(dataDir);
    let db: Database | undefined;
    try {
      db = new Database(join(dataDir, 'lock.db'), { busyTimeoutMs: 0 });
      db.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      db?.close();
      if (!isBusy(error)) throw error;
      throw new UnusableDataDirectory(
        `data directory ${dataDir} is in use by ${ownerOf(dataDir)}: stop it, or set SLUICE_DATA_DIR to another directory`,
        { cause: error },
      );
    }
    writeFileSync(join(dataDir, 'owner'), `${process.pid}\n`);
    return new DataDirLock(db);
  }

  release(): void {
    this.db.close();
  }
}

const ownerOf = (dataDir: string): string => {
  try {
    return `the process with pid ${readFileSync(join(dataDir, 'owner'), 'utf8').trim()}`;
  } catch (error) {
    return `another process (its pid cannot be read: ${String(error)})`;
  }
};
