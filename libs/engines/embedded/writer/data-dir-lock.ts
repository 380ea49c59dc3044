import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '#libs/config/make-directory.js';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { Database, isBusy, isFatal } from './sqlite-driver.js';

const LOCK = 'lock.db';

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
    const lock = DataDirLock.locked(dataDir);
    writeFileSync(join(dataDir, 'owner'), `${process.pid}\n`);
    return lock;
  }

  /** As acquire, and changes nothing in the directory. Undefined where no server ever was, and where none can write. */
  static acquireQuietly(dataDir: string): DataDirLock | undefined {
    if (!existsSync(join(dataDir, LOCK))) return undefined;
    try {
      // A shared lock, which keeps servers out as well. It leaves a journal of a server that was killed where it is.
      return DataDirLock.locked(dataDir, 'BEGIN; SELECT 1 FROM sqlite_schema', true);
    } catch (error) {
      if (error instanceof UnusableDataDirectory || !isFatal(error)) throw error;
      return undefined;
    }
  }

  private static locked(dataDir: string, begin = 'BEGIN EXCLUSIVE', readOnly = false): DataDirLock {
    let db: Database | undefined;
    try {
      db = new Database(join(dataDir, LOCK), { busyTimeoutMs: 0, readOnly });
      db.exec(begin);
      return new DataDirLock(db);
    } catch (error) {
      db?.close();
      if (!isBusy(error)) throw error;
      throw new UnusableDataDirectory(
        `data directory ${dataDir} is in use by ${ownerOf(dataDir)}: stop it, or set SLUICE_DATA_DIR to another directory`,
        { cause: error },
      );
    }
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
