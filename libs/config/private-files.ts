import { chmodSync, lstatSync, readdirSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { WrongSettings } from './config.js';
import { makeDirectory } from './make-directory.js';

/** Permission bits of group and others. */
const WIDE = 0o077;
const SHOWN = 5;

/**
 * Restricts new files and the data directory, which holds the key of all secrets, to the user of the process. Every
 * process calls it first. Corrects wider modes of an existing directory, with one line to `warn`.
 * Throws WrongSettings when the modes cannot be corrected because the directory belongs to another user.
 */
export const keepFilesPrivate = (dataDir: string, warn: (text: string) => void): void => {
  process.umask(WIDE);
  // Windows has no file modes.
  if (process.getuid === undefined) return;
  makeDirectory(dataDir);
  const corrected: string[] = [];
  const stats = statSync(dataDir);
  if ((stats.mode & WIDE) !== 0) checkIsOurs(dataDir);
  const wasOpen = correct(dataDir, stats, corrected);
  correctWithin(dataDir, wasOpen, corrected);
  if (corrected.length === 0) return;
  const more = corrected.length > SHOWN ? ` and ${corrected.length - SHOWN} more` : '';
  warn(`open to other users of this machine, closed now: ${corrected.slice(0, SHOWN).join(', ')}${more}`);
};

/** Names that identify a used data directory. */
export const DATA_DIRECTORY_NAMES: readonly string[] = [
  'secret.check',
  'secret.key',
  'events.db',
  'data.db',
  'read.db',
  'owner',
  'server.json',
  'blobs',
];

/**
 * Names that may exist in a data directory before the first start: the folder of a file system, and the components that
 * `sluice registry add` copies.
 */
export const NAMES_BEFORE_FIRST_START: readonly string[] = ['lost+found', 'registry'];

/** Refuses a folder that other users need, such as `/tmp`, `/var/lib` or a home, instead of closing it to them. */
const checkIsOurs = (dataDir: string): void => {
  const names = readdirSync(dataDir).filter((name) => !NAMES_BEFORE_FIRST_START.includes(name));
  const foreign = names.length > 0 && !names.some((name) => DATA_DIRECTORY_NAMES.includes(name));
  const isSticky = (statSync(dataDir).mode & 0o1000) !== 0;
  if (!foreign && !isSticky) return;
  throw new WrongSettings([
    `SLUICE_DATA_DIR: ${dataDir} is open to other users, and holds files that are not Sluice's: ` +
      `name a folder within it, which Sluice then makes for this user alone`,
  ]);
};

/** Corrects the modes within a folder. Descends only when `deep`, because a closed directory hides its content. */
const correctWithin = (folder: string, deep: boolean, corrected: string[]): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = lstatIfThere(path);
    if (!stats || stats.isSymbolicLink()) continue;
    correct(path, stats, corrected);
    if (deep && stats.isDirectory()) correctWithin(path, deep, corrected);
  }
};

/** Corrects the mode of a path. Returns true when it was open to others. */
const correct = (path: string, stats: Stats, corrected: string[]): boolean => {
  const mode = stats.mode & 0o777;
  if ((mode & WIDE) === 0) return false;
  try {
    chmodSync(path, mode & ~WIDE);
  } catch (error) {
    throw new WrongSettings([
      `SLUICE_DATA_DIR: ${path} is open to other users (mode ${octal(mode)}, owner ${stats.uid}) and cannot be closed ` +
        `by user ${process.getuid?.() ?? '?'} (${error instanceof Error ? error.message : String(error)}): ` +
        `chmod go-rwx it as its owner, or name a folder that this user may make`,
    ]);
  }
  corrected.push(`${path} (was ${octal(mode)})`);
  return true;
};

const octal = (mode: number): string => mode.toString(8).padStart(3, '0');

/** Returns undefined for a missing file, because a database may remove one while the folder is read. */
const lstatIfThere = (path: string): Stats | undefined => {
  try {
    return lstatSync(path);
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};
