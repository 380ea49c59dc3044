import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { ALL, checkedDatabases, type CheckSizes } from './verify.js';
import { logBytes } from './writer/checkpoints.js';
import { FILES } from './writer/schema.js';

/** File that identifies the place of the last use. A copy has another inode, and another machine another id. */
const PLACE = 'place';

/** Databases that are checked at each start. See docs/reference/rest-api.md#start-check for what this costs. */
const AT_EACH_START: CheckSizes = { full: 32 << 20, pages: 256 << 20 };

/** Without read.db, which can be rebuilt. */
const SOURCES_OF_TRUTH = ['events', 'data'] as const;

/**
 * Checks the databases before anything is opened, so that no server works on a damaged one: the small ones at each start,
 * and all of them in a directory that was copied or moved while a server used it, because such a copy may be torn. Then
 * notes the place. Call it under the lock. Throws UnusableDataDirectory.
 */
export const checkBeforeOpening = (
  dataDir: string,
  warn: (text: string) => void,
  atEachStart = AT_EACH_START,
): void => {
  const file = join(dataDir, PLACE);
  const here = placeOf(dataDir);
  const before = textOf(file)?.trim();
  const mayBeTorn = before !== undefined && before !== here && wasInUse(dataDir);
  if (mayBeTorn) warn(`${dataDir} was copied or moved while a server used it: its databases are checked first`);
  for (const { name, faults } of checkedDatabases(dataDir, mayBeTorn ? ALL : atEachStart, SOURCES_OF_TRUTH))
    if (faults.length > 0 && existsSync(join(dataDir, name)))
      throw new UnusableDataDirectory(
        `${join(dataDir, name)} is damaged (${faults.join('; ')}): ` +
          (mayBeTorn ? 'stop the server before you copy its data directory, and copy it again, or ' : '') +
          `put the data directory back from a backup. Nothing was changed`,
      );
  if (before !== here) writeFileSync(file, `${here}\n`, { mode: 0o600 });
};

/** A server that ends in order leaves its write-ahead logs empty. */
const wasInUse = (dataDir: string): boolean => FILES.some((file) => logBytes(dataDir, file) > 0);

/** Containers have no machine id, and a volume keeps its inode. */
const placeOf = (dataDir: string): string =>
  [textOf('/etc/machine-id')?.trim() ?? '', String(statSync(dataDir).ino)].join(' ');

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
