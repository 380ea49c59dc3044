import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { checkedDatabases } from './verify.js';
import { logBytes } from './writer/checkpoints.js';
import { FILES } from './writer/schema.js';

/** File that identifies the place of the last use. A copy has another inode, and another machine another id. */
const PLACE = 'place';

/**
 * Checks the databases of a directory that was copied or moved while a server used it, because such a copy may be torn.
 * Then records the place. A directory that was closed in order, or has not moved, is not read. Call it under the lock,
 * before anything is opened. Throws UnusableDataDirectory.
 */
export const checkMoved = (dataDir: string, warn: (text: string) => void): void => {
  const file = join(dataDir, PLACE);
  const here = placeOf(dataDir);
  const before = textOf(file)?.trim();
  if (before === here) return;
  if (before !== undefined && wasInUse(dataDir)) {
    warn(`${dataDir} was copied or moved while a server used it: its databases are checked first`);
    for (const { name, faults } of checkedDatabases(dataDir))
      if (faults.length > 0 && name !== 'read.db')
        throw new UnusableDataDirectory(
          `${join(dataDir, name)} is damaged (${faults.join('; ')}): stop the server before you copy its data directory, ` +
            `and copy it again, or put a backup back. Nothing was changed`,
        );
  }
  writeFileSync(file, `${here}\n`, { mode: 0o600 });
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
