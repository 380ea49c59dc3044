import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DATA_DIRECTORY_NAMES, NAMES_BEFORE_FIRST_START } from '#libs/config/private-files.js';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { Database } from './writer/sqlite-driver.js';

/** State of a data directory before anything is opened in it. */
export interface DataDirectory {
  /** False for a missing or empty folder, and for one in which no server has started yet. */
  readonly isInstallation: boolean;
  /** True from the loss of read.db until `readModelsRestored`, so that a rebuild that was interrupted starts again. */
  readonly lacksReadModels: boolean;
}

const HOLDS = {
  'events.db': 'every user, component, source and webhook',
  'data.db': 'the secrets, and the events that wait',
  blobs: 'the code of every component',
} as const;
const SQLITE_HEADER = 'SQLite format 3\0';
/** Further files and folders at the top of a data directory. A folder with any of them belongs to Sluice. */
const FURTHER_NAMES =
  /^(?:(?:events|data|read|lock)\.db(?:-wal|-shm|\.damaged.*)|lock\.db|read-models\.lost|runs-in-flight|place)$/;
const DATABASE_FILE = /^(?:events|data|read|lock)\.db(?:-wal|-shm)?$/;
const isOurs = (name: string): boolean => DATA_DIRECTORY_NAMES.includes(name) || FURTHER_NAMES.test(name);
/** Marks that the read models are not complete. The engines would make an empty read.db in place of a lost one. */
const LOST = 'read-models.lost';

/**
 * Looks at a data directory before `openEmbedded`. Changes nothing in it, unless read.db is lost: one that is no
 * database is moved aside, and a mark is set, because the read models can be rebuilt from the logs. Throws
 * UnusableDataDirectory when files are lost that nothing can rebuild, or when the folder belongs to another program.
 */
export const inspectDataDirectory = (dataDir: string, warn: (text: string) => void): DataDirectory => {
  const names = namesIn(dataDir);
  checkIsOurs(dataDir, names);
  checkAccess(dataDir, names);
  const has = (name: string): boolean => names.includes(name) && sizeOf(join(dataDir, name)) > 0;
  for (const file of ['events.db', 'data.db']) if (has(file)) checkIsDatabase(dataDir, file);
  // events.db is created first, so data.db without it is never an interrupted first start.
  if (has('data.db') && !has('events.db')) throw lost(dataDir, 'events.db');
  const missing = !has('data.db') ? 'data.db' : names.includes('blobs') ? undefined : 'blobs';
  if (missing !== undefined && has('events.db') && holdsEvents(join(dataDir, 'events.db')))
    throw lost(dataDir, missing);
  const isInstallation = has('events.db') && has('data.db');
  const isBroken = has('read.db') && !isDatabase(join(dataDir, 'read.db'));
  if (isBroken) moveAside(dataDir, warn);
  const isLost = isInstallation && (isBroken || !has('read.db'));
  if (isLost) writeFileSync(join(dataDir, LOST), '');
  return { isInstallation, lacksReadModels: isLost || names.includes(LOST) };
};

/** Call it after every read model was rebuilt. */
export const readModelsRestored = (dataDir: string): void => {
  rmSync(join(dataDir, LOST), { force: true });
};

const namesIn = (dataDir: string): readonly string[] => (existsSync(dataDir) ? readdirSync(dataDir) : []);

/** Files of a version control system do not make a folder another program's. */
const checkIsOurs = (dataDir: string, names: readonly string[]): void => {
  const others = names.filter(
    (name) => !isOurs(name) && !NAMES_BEFORE_FIRST_START.includes(name) && !name.startsWith('.'),
  );
  if (others.length === 0 || names.some(isOurs)) return;
  const shown = others.slice(0, 3).join(', ') + (others.length > 3 ? ` and ${others.length - 3} more` : '');
  throw new UnusableDataDirectory(
    `SLUICE_DATA_DIR: ${dataDir} holds ${shown} and nothing of Sluice's: name an empty or a new folder`,
  );
};

/**
 * Throws the error of the operating system when this user may not write to the folder or to a file of it. SQLite would
 * say only that it cannot open a file.
 */
const checkAccess = (dataDir: string, names: readonly string[]): void => {
  const { R_OK, W_OK, X_OK } = constants;
  if (existsSync(dataDir)) accessSync(dataDir, R_OK | W_OK | X_OK);
  for (const name of names) if (DATABASE_FILE.test(name)) accessSync(join(dataDir, name), R_OK | W_OK);
};

const checkIsDatabase = (dataDir: string, file: string): void => {
  if (isDatabase(join(dataDir, file))) return;
  throw new UnusableDataDirectory(
    `${join(dataDir, file)} is not a database any more, because something has overwritten it: ` +
      `put the data directory back from a backup. Nothing was changed`,
  );
};

const lost = (dataDir: string, name: keyof typeof HOLDS): UnusableDataDirectory =>
  new UnusableDataDirectory(
    `${dataDir} is damaged: ${name} is missing, which holds ${HOLDS[name]}. Put the data directory back from a backup, ` +
      `or set SLUICE_DATA_DIR to a new folder to start an empty installation. Nothing was changed`,
  );

const isDatabase = (path: string): boolean => {
  const head = Buffer.alloc(SQLITE_HEADER.length);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  return head.toString('latin1') === SQLITE_HEADER;
};

/** False after a first start that ended before its first event. Called only when something is missing. */
const holdsEvents = (path: string): boolean => {
  const db = new Database(path, { readOnly: true });
  try {
    const table = db.sql(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'events'`).get();
    return table !== undefined && db.sql('SELECT 1 FROM events LIMIT 1').get() !== undefined;
  } finally {
    db.close();
  }
};

const moveAside = (dataDir: string, warn: (text: string) => void): void => {
  const path = join(dataDir, 'read.db');
  renameSync(path, `${path}.damaged`);
  for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
  warn(`${path} was not a database any more. It is ${path}.damaged now, and the read models are rebuilt from the logs`);
};

const sizeOf = (path: string): number => statSync(path).size;
