import { createHmac, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectory } from './make-directory.js';
import { UnusableDataDirectory } from './unusable-data-directory.js';

export const KEY_FILE = 'secret.key';
export const CHECK_FILE = 'secret.check';
/**
 * The next key, from the start of a rotation to its end. During that time no other process may use the data directory.
 */
export const NEXT_FILE = 'secret.key.next';

/**
 * Returns the 32 bytes that encrypt secrets: `given` (SLUICE_SECRET_KEY, hex or base64), else `<data dir>/secret.key`,
 * made with mode 0600 on the first start. Throws when the data directory was created with another key, because its
 * secrets would silently become unreadable. A directory of the key `previous` (SLUICE_SECRET_KEY_PREVIOUS) is accepted.
 */
export const secretKeyOf = (dataDir: string, given: string | null, previous: string | null = null): Buffer => {
  makeDirectory(dataDir);
  if (readIfThere(join(dataDir, NEXT_FILE)) !== undefined) {
    throw new UnusableDataDirectory(
      `${join(dataDir, NEXT_FILE)} shows that a rotation of the secret key did not end: ` +
        `run \`sluice rotate-key\` again, which continues it`,
    );
  }
  const key = given === null ? keyFromFile(dataDir) : secretKeyFrom(given);
  const check = checkOf(key);
  const expected = readIfThere(join(dataDir, CHECK_FILE)) ?? createOnce(join(dataDir, CHECK_FILE), check);
  if (expected === check) return key;
  const former = previousKeyOf(previous);
  if (former === undefined) {
    throw new UnusableDataDirectory(
      `${whereFrom(dataDir, given)} is not the key that ${dataDir} was created with: give that key` +
        (given === null
          ? ''
          : ', or, to replace it, give it as SLUICE_SECRET_KEY_PREVIOUS and run `sluice rotate-key`'),
    );
  }
  if (expected !== checkOf(former)) {
    throw new UnusableDataDirectory(
      `neither SLUICE_SECRET_KEY nor SLUICE_SECRET_KEY_PREVIOUS is the key that ${dataDir} was created with: ` +
        `give that key as one of them`,
    );
  }
  return key;
};

/**
 * As secretKeyOf, for a look that changes nothing. Throws UnusableDataDirectory when there is no key, or another than
 * the one that the data directory was created with.
 */
export const storedSecretKeyOf = (dataDir: string, given: string | null): Buffer => {
  const file = join(dataDir, KEY_FILE);
  const text = given ?? readIfThere(file)?.trim();
  if (text === undefined)
    throw new UnusableDataDirectory(`${file} is missing: put it back, or give the key as SLUICE_SECRET_KEY`);
  const key = decoded(text, whereFrom(dataDir, given));
  const expected = readIfThere(join(dataDir, CHECK_FILE));
  if (expected === undefined || expected === checkOf(key)) return key;
  throw new UnusableDataDirectory(
    `${whereFrom(dataDir, given)} is not the key that ${dataDir} was created with: give that key`,
  );
};

/** Shows whether two keys are the same one, and reveals nothing else. */
export const checkOf = (key: Buffer): string =>
  `${createHmac('sha256', key).update('sluice secret key check').digest('hex').slice(0, 32)}\n`;

/**
 * Call it once the data directory is locked. A rotation that ended between the reading of the key and the lock has
 * changed the key.
 */
export const checkSecretKeyUnchanged = (
  dataDir: string,
  key: Buffer,
  given: string | null,
  previous: string | null,
): void => {
  if (secretKeyOf(dataDir, given, previous).equals(key)) return;
  throw new UnusableDataDirectory(`the secret key of ${dataDir} was replaced during this start: start again`);
};

/**
 * Records the key as that of the data directory. For processes whose secrets are not in the directory, once they accept
 * both keys.
 */
export const adoptSecretKey = (dataDir: string, key: Buffer): void => {
  if (readIfThere(join(dataDir, CHECK_FILE)) !== checkOf(key)) replace(join(dataDir, CHECK_FILE), checkOf(key));
};

/** Decodes SLUICE_SECRET_KEY without reading any data directory. */
export const secretKeyFrom = (given: string): Buffer => decoded(given, 'SLUICE_SECRET_KEY');

/** Decodes SLUICE_SECRET_KEY_PREVIOUS. */
export const previousKeyOf = (given: string | null): Buffer | undefined =>
  given === null ? undefined : decoded(given, 'SLUICE_SECRET_KEY_PREVIOUS');

const whereFrom = (dataDir: string, given: string | null): string =>
  given === null ? join(dataDir, KEY_FILE) : 'SLUICE_SECRET_KEY';

const keyFromFile = (dataDir: string): Buffer => {
  const file = join(dataDir, KEY_FILE);
  const found = readIfThere(file);
  if (found === undefined && readIfThere(join(dataDir, CHECK_FILE)) !== undefined) {
    throw new UnusableDataDirectory(
      `${file} is missing, and ${dataDir} holds secrets encrypted with a key: put the file back, or give the key as SLUICE_SECRET_KEY`,
    );
  }
  const text = found ?? createOnce(file, `${randomBytes(32).toString('base64')}\n`);
  chmodSync(file, 0o600);
  return decoded(text.trim(), file);
};

export const decoded = (text: string, where: string): Buffer => {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (key.length === 32) return key;
  throw new UnusableDataDirectory(
    `${where} must hold 32 bytes in base64 or hexadecimal digits, and it holds ${key.length} ` +
      `${key.length === 1 ? 'byte' : 'bytes'}: put the key of this installation back from a backup`,
  );
};

export const readIfThere = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** Creates a file atomically, so only the first of two concurrent processes succeeds. Returns its final content. */
export const createOnce = (file: string, text: string): string => {
  const draft = durableDraft(file, text);
  try {
    linkSync(draft, file);
  } catch (error) {
    const code = codeOf(error);
    // On a file system without hard links, the lock on the data directory keeps other processes away.
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS') renameSync(draft, file);
    else if (code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolderOf(file);
  return readFileSync(file, 'utf8');
};

/** Replaces a file atomically and durably. */
export const replace = (file: string, text: string): void => {
  renameSync(durableDraft(file, text), file);
  syncFolderOf(file);
};

const durableDraft = (file: string, text: string): string => {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return draft;
};

/** Makes the names of files as durable as the data encrypted with the key. */
export const syncFolderOf = (file: string): void => {
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
