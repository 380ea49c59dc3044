import { createHash } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { SecretSeal } from '../sealed-secret.js';
import { EmbeddedBlobStore } from './stores/blob-store.js';
import { sealedSecrets } from './stores/vault.js';
import { DataDirLock } from './writer/data-dir-lock.js';
import { logBytes } from './writer/checkpoints.js';
import { Database } from './writer/sqlite-driver.js';
import { type FileName, FILES } from './writer/schema.js';

/** Faults of one part that are listed. */
const MOST_FAULTS = 10;

export interface CheckedFile {
  readonly name: string;
  /** Empty for a file that is whole. */
  readonly faults: readonly string[];
}

export interface CheckedPart extends CheckedFile {
  /** Number of things that were checked and are whole. */
  readonly whole: number;
}

export interface SecretKeys {
  readonly secretKey: Buffer;
  readonly previousKey?: Buffer | undefined;
}

/**
 * Checks a data directory that no server uses: its databases page by page, each blob against its hash, and whether the
 * secret key opens every secret. Reads each of them once and changes nothing. Throws UnusableDataDirectory for a
 * directory that a server uses, and for one without an installation.
 */
export async function* checkedDirectory(dataDir: string, keysOf: () => SecretKeys): AsyncIterable<CheckedPart> {
  if (!['events', 'data'].some((file) => existsSync(join(dataDir, `${file}.db`))))
    throw new UnusableDataDirectory(`${resolve(dataDir)} holds no installation: name the data directory of one`);
  const lock = DataDirLock.acquireQuietly(dataDir);
  try {
    let dataIsWhole = true;
    for (const file of checkedDatabases(dataDir)) {
      if (file.name === 'data.db' && file.faults.length > 0) dataIsWhole = false;
      yield { ...file, whole: file.faults.length === 0 ? 1 : 0 };
    }
    yield await checkedBlobs(join(dataDir, 'blobs'));
    if (dataIsWhole) yield checkedSecrets(dataDir, keysOf);
  } finally {
    lock?.release();
  }
}

/** Largest databases in bytes that are checked in full, and of which the structure of every page is checked. */
export interface CheckSizes {
  readonly full: number;
  readonly pages: number;
}

export const ALL: CheckSizes = { full: Infinity, pages: Infinity };

/**
 * Checks the databases of a data directory: the structure of every page, and in full also that rows and indexes agree.
 * Reads each file whole. Nothing may write in the meantime.
 */
export function* checkedDatabases(
  dataDir: string,
  most = ALL,
  files: readonly FileName[] = FILES,
): Iterable<CheckedFile> {
  for (const file of files) {
    const bytes = statSync(join(dataDir, `${file}.db`), { throwIfNoEntry: false })?.size ?? 0;
    const check = bytes <= most.full ? 'integrity_check' : bytes <= most.pages ? 'quick_check' : undefined;
    if (check) yield { name: `${file}.db`, faults: faultsOf(dataDir, file, check) };
  }
}

const faultsOf = (dataDir: string, file: FileName, check: 'integrity_check' | 'quick_check'): readonly string[] => {
  if (!existsSync(join(dataDir, `${file}.db`))) return ['it is missing'];
  try {
    return unchanged(dataDir, file, (db) => {
      const rows = db.sql(`PRAGMA ${check}(${MOST_FAULTS})`).all<Record<string, string>>();
      // One row may hold many lines, the first of which only names the database.
      const lines = rows.flatMap((row) => row[check]?.split('\n') ?? []);
      return lines.filter((line) => line !== 'ok' && !line.startsWith('***')).slice(0, MOST_FAULTS);
    });
  } catch (error) {
    return [messageOf(error)];
  }
};

/** SQLite would leave an empty log beside a file that it reads, and an index of a log that has records. */
const unchanged = <T>(dataDir: string, file: FileName, read: (db: Database) => T): T => {
  const path = resolve(dataDir, `${file}.db`);
  const index = `${path}-shm`;
  const hasLog = logBytes(dataDir, file) > 0;
  const hadIndex = existsSync(index);
  const db = new Database(hasLog ? path : `${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
  try {
    return read(db);
  } finally {
    db.close();
    if (hasLog && !hadIndex) rmSync(index, { force: true });
  }
};

const checkedBlobs = async (dir: string): Promise<CheckedPart> => {
  const tally = new Tally('blobs');
  try {
    if (!statSync(dir).isDirectory()) return tally.with('blobs is no folder');
    const blobs = EmbeddedBlobStore.reading(dir);
    for await (const hash of blobs.hashes()) {
      const text = await blobs.get(hash);
      if (text !== undefined && createHash('sha256').update(text, 'utf8').digest('hex') === hash) tally.whole++;
      else tally.with(`${hash} has other content than its name says`);
    }
    return tally.part();
  } catch (error) {
    return tally.with(messageOf(error));
  }
};

const checkedSecrets = (dataDir: string, keysOf: () => SecretKeys): CheckedPart => {
  const tally = new Tally('secrets');
  try {
    const { secretKey, previousKey } = keysOf();
    const seal = new SecretSeal(secretKey, previousKey);
    unchanged(dataDir, 'data', (db) => {
      for (const { ref, workspace, sealed } of sealedSecrets(db)) {
        try {
          seal.open(ref, workspace, sealed);
          tally.whole++;
        } catch (error) {
          tally.with(messageOf(error));
        }
      }
    });
    return tally.part();
  } catch (error) {
    return tally.with(messageOf(error));
  }
};

/** Counts what is whole, and lists the first faults. */
class Tally {
  whole = 0;
  private readonly faults: string[] = [];
  private more = 0;

  constructor(private readonly name: string) {}

  with(fault: string): CheckedPart {
    if (this.faults.length < MOST_FAULTS) this.faults.push(fault);
    else this.more++;
    return this.part();
  }

  part(): CheckedPart {
    const { name, whole, faults, more } = this;
    return { name, whole, faults: more === 0 ? faults : [...faults, `and ${more} more`] };
  }
}
