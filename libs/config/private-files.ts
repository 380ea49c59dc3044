import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { WrongSettings } from './config.js';

/** What group and others may do. */
const WIDE = 0o077;
const SHOWN = 5;

/**
 * First step of every process: what it writes from here on is its user's alone, and so is the data directory, with the
 * key of all secrets in it. Wider modes of an existing one are corrected, with one line to `warn`.
 * Throws WrongSettings when they cannot be, because it belongs to another user.
 */
export const keepFilesPrivate = (dataDir: string, warn: (text: string) => void): void => {
  process.umask(WIDE);
  // Windows has no such modes.
  if (process.getuid === undefined) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const corrected: string[] = [];
  const stats = statSync(dataDir);
  if ((stats.mode & WIDE) !== 0) checkIsOurs(dataDir);
  const wasOpen = correct(dataDir, stats, corrected);
  correctWithin(dataDir, wasOpen, corrected);
  if (corrected.length === 0) return;
  const more = corrected.length > SHOWN ? ` and ${corrected.length - SHOWN} more` : '';
  warn(`open to other users of this machine, closed now: ${corrected.slice(0, SHOWN).join(', ')}${more}`);
};

/** Of a data directory that was in use. */
const OURS = ['secret.check', 'secret.key', 'events.db', 'data.db', 'read.db', 'owner', 'server.json', 'blobs'];

/** A folder that others use (`/tmp`, `/var/lib`, a home) is not closed to them because a setting names it. */
const checkIsOurs = (dataDir: string): void => {
  const names = readdirSync(dataDir).filter((name) => name !== 'lost+found');
  const foreign = names.length > 0 && !names.some((name) => OURS.includes(name));
  const isSticky = (statSync(dataDir).mode & 0o1000) !== 0;
  if (!foreign && !isSticky) return;
  throw new WrongSettings([
    `SLUICE_DATA_DIR: ${dataDir} is open to other users, and holds what is none of Sluice's: ` +
      `name a folder within it, which is made for this user alone`,
  ]);
};

/** Into the folders only when others could get there: in a closed directory the modes within it do not matter. */
const correctWithin = (folder: string, deep: boolean, corrected: string[]): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = lstatIfThere(path);
    if (!stats || stats.isSymbolicLink()) continue;
    correct(path, stats, corrected);
    if (deep && stats.isDirectory()) correctWithin(path, deep, corrected);
  }
};

/** True when it was open. */
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

/** A file of a database may go away while the folder is read. */
const lstatIfThere = (path: string): Stats | undefined => {
  try {
    return lstatSync(path);
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};
