import { createHmac, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const KEY_FILE = 'secret.key';
const CHECK_FILE = 'secret.check';

/**
 * Returns the 32 bytes that encrypt secrets: `given` (SLUICE_SECRET_KEY, hex or base64), else `<data dir>/secret.key`,
 * made with mode 0600 on the first start. Throws when the data directory was created with another key, because its
 * secrets would silently become unreadable.
 */
export const secretKeyOf = (dataDir: string, given: string | null): Buffer => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const key = given === null ? keyFromFile(dataDir) : secretKeyFrom(given);
  const check = `${createHmac('sha256', key).update('sluice secret key check').digest('hex').slice(0, 32)}\n`;
  const expected = readIfThere(join(dataDir, CHECK_FILE)) ?? createOnce(join(dataDir, CHECK_FILE), check);
  if (expected !== check)
    throw new Error(`${whereFrom(dataDir, given)} is not the key that ${dataDir} was created with: give that key`);
  return key;
};

/** Decodes SLUICE_SECRET_KEY without reading any data directory. */
export const secretKeyFrom = (given: string): Buffer => decoded(given, 'SLUICE_SECRET_KEY');

const whereFrom = (dataDir: string, given: string | null): string =>
  given === null ? join(dataDir, KEY_FILE) : 'SLUICE_SECRET_KEY';

const keyFromFile = (dataDir: string): Buffer => {
  const file = join(dataDir, KEY_FILE);
  const found = readIfThere(file);
  if (found === undefined && readIfThere(join(dataDir, CHECK_FILE)) !== undefined) {
    throw new Error(
      `${file} is missing, and ${dataDir} holds secrets encrypted with a key: put the file back, or give the key as SLUICE_SECRET_KEY`,
    );
  }
  const text = found ?? createOnce(file, `${randomBytes(32).toString('base64')}\n`);
  chmodSync(file, 0o600);
  return decoded(text.trim(), file);
};

const decoded = (text: string, where: string): Buffer => {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (key.length !== 32) throw new Error(`${where} must hold 32 bytes in base64 or hex, it has ${key.length}`);
  return key;
};

const readIfThere = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** Creates a file atomically, so only the first of two concurrent processes succeeds. Returns its final content. */
const createOnce = (file: string, text: string): string => {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
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
  // The file name must be as durable as the data encrypted with the key.
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
  return readFileSync(file, 'utf8');
};

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
