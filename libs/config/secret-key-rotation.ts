import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  CHECK_FILE,
  checkOf,
  createOnce,
  decoded,
  KEY_FILE,
  NEXT_FILE,
  previousKeyOf,
  readIfThere,
  replace,
  secretKeyFrom,
  syncFolderOf,
} from './secret-key.js';
import { UnusableDataDirectory } from './unusable-data-directory.js';

/** Replacement of the secret key of a data directory. A repeat after a crash continues with the same keys. */
export interface KeyRotation {
  /** The new key, and the one that the secrets are encrypted with so far. 32 bytes each. */
  readonly key: Buffer;
  readonly previous: Buffer;
  /** Stores a new key that was made here. Call it with the data directory locked, before anything is encrypted with it. */
  begin(): void;
  /** Puts the new key in force and removes the former. Call it when every secret is readable with the new key. */
  finish(): void;
}

/**
 * Finds the keys of a rotation. With SLUICE_SECRET_KEY the operator provides both; without, `secret.key` has the
 * former, and the new one is generated. Changes nothing. Throws UnusableDataDirectory when a key is missing or wrong.
 */
export const rotationOf = (dataDir: string, given: string | null, previous: string | null): KeyRotation =>
  given === null ? ofKeyFile(dataDir) : ofGivenKeys(dataDir, secretKeyFrom(given), previousKeyOf(previous));

const ofKeyFile = (dataDir: string): KeyRotation => {
  const [file, nextFile, checkFile] = [KEY_FILE, NEXT_FILE, CHECK_FILE].map((name) => join(dataDir, name)) as [
    string,
    string,
    string,
  ];
  const text = readIfThere(file);
  if (text === undefined) {
    throw new UnusableDataDirectory(
      `${file} is missing: put it back, or give the new key as SLUICE_SECRET_KEY and the former as SLUICE_SECRET_KEY_PREVIOUS`,
    );
  }
  const previous = decoded(text.trim(), file);
  const begun = readIfThere(nextFile);
  const nextText = begun ?? `${randomBytes(32).toString('base64')}\n`;
  const key = decoded(nextText.trim(), nextFile);
  const check = readIfThere(checkFile);
  // The check is replaced before the key file, so an interrupted rotation may have that of the new key.
  const accepted = begun === undefined ? [checkOf(previous)] : [checkOf(previous), checkOf(key)];
  if (check !== undefined && !accepted.includes(check)) {
    throw new UnusableDataDirectory(`${file} is not the key that ${dataDir} was created with: put that key back`);
  }
  return {
    key,
    previous,
    begin: () => {
      if (readIfThere(file) === text && createOnce(nextFile, nextText) === nextText) return;
      throw new UnusableDataDirectory(`another process rotates the key of ${dataDir}: run \`sluice rotate-key\` again`);
    },
    finish: () => {
      replace(checkFile, checkOf(key));
      renameSync(nextFile, file);
      syncFolderOf(file);
    },
  };
};

const ofGivenKeys = (dataDir: string, key: Buffer, previous: Buffer | undefined): KeyRotation => {
  const checkFile = join(dataDir, CHECK_FILE);
  if (previous === undefined) {
    throw new UnusableDataDirectory(
      'SLUICE_SECRET_KEY_PREVIOUS is not given: give the new key as SLUICE_SECRET_KEY and the former as SLUICE_SECRET_KEY_PREVIOUS',
    );
  }
  if (existsSync(join(dataDir, NEXT_FILE))) {
    throw new UnusableDataDirectory(
      `${join(dataDir, NEXT_FILE)} shows that a rotation without SLUICE_SECRET_KEY did not end: ` +
        `unset SLUICE_SECRET_KEY and SLUICE_SECRET_KEY_PREVIOUS, and run \`sluice rotate-key\` to end it first`,
    );
  }
  const check = readIfThere(checkFile);
  if (check !== undefined && check !== checkOf(previous) && check !== checkOf(key)) {
    throw new UnusableDataDirectory(
      `SLUICE_SECRET_KEY_PREVIOUS is not the key that ${dataDir} was created with: give that key`,
    );
  }
  return {
    key,
    previous,
    begin: () => undefined,
    finish: () => {
      replace(checkFile, checkOf(key));
      removeFormerFile(join(dataDir, KEY_FILE), previous);
    },
  };
};

/** Removes `secret.key` when it holds the former key, because SLUICE_SECRET_KEY replaces it. */
const removeFormerFile = (file: string, previous: Buffer): void => {
  const text = readIfThere(file);
  if (text === undefined || !decoded(text.trim(), file).equals(previous)) return;
  rmSync(file);
  syncFolderOf(file);
};
