import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { secretKeyOf } from '#libs/config/index.js';
import { openEmbedded } from '#libs/engines/embedded/index.js';
import { systemClock } from '#libs/kernel/clock.js';
import { ROOT } from '#test/harness/paths.js';
import { type RotationStep } from './rotate-key.js';

const OLD = 'aa'.repeat(32);
const NEW = 'bb'.repeat(32);
const SECRETS = 150;

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'sluice-rotate-'))));
afterEach(() => rmSync(dir, { recursive: true }));

const secretsWith = async (secretKey: Buffer, previousKey?: Buffer): Promise<string[]> => {
  const onFatal = (error: Error): never => {
    throw error;
  };
  const engines = await openEmbedded({ dataDir: dir, secretKey, previousKey, clock: systemClock, onFatal });
  try {
    const found: string[] = [];
    for await (const { ref, workspaceId, plaintext } of engines.vault.entries()) {
      found.push(`${ref} ${workspaceId} ${plaintext}`);
    }
    return found;
  } finally {
    await engines.close();
  }
};

/** Makes a data directory with secrets. */
const filled = async (secretKey: Buffer): Promise<string[]> => {
  const engines = await openEmbedded({ dataDir: dir, secretKey, clock: systemClock, onFatal: () => undefined });
  await Promise.all(
    Array.from({ length: SECRETS }, (_, i) => engines.vault.put(`sec_${i}`, `o_${i % 3}`, `plaintext ${i}`)),
  );
  await engines.close();
  return secretsWith(secretKey);
};

const moduleOf = (path: string): string => JSON.stringify(pathToFileURL(join(ROOT, 'dist', path)).href);
/** Ends itself by SIGKILL when the step is reached for the nth time. */
const DYING = `
  const { rotateSecretKey } = await import(${moduleOf('apps/cli/src/rotate-key.js')});
  const { loadConfig } = await import(${moduleOf('libs/config/index.js')});
  let left = Number(process.env.TIMES);
  await rotateSecretKey(loadConfig(process.env), (step) => {
    if (step === process.env.STEP && --left === 0) process.kill(process.pid, 'SIGKILL');
  });`;

const envOf = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, SLUICE_DATA_DIR: dir, ...env });
const dies = async (step: RotationStep, times = 1, env: NodeJS.ProcessEnv = {}): Promise<void> => {
  const script = join(dir, '.dying.mjs');
  writeFileSync(script, DYING, { mode: 0o600 });
  const args = [script];
  const ended = promisify(execFile)(process.execPath, args, {
    env: envOf({ STEP: step, TIMES: String(times), ...env }),
  });
  await expect(ended).rejects.toMatchObject({ signal: 'SIGKILL' });
};
const rotates = async (env: NodeJS.ProcessEnv = {}): Promise<string> => {
  const args = [join(ROOT, 'dist/apps/cli/src/main.js'), 'rotate-key'];
  return (await promisify(execFile)(process.execPath, args, { env: envOf(env), cwd: dir })).stdout;
};

const STEPS: readonly (readonly [RotationStep, number])[] = [
  ['locked', 1],
  ['begun', 1],
  ['resealed one', 1],
  ['resealed one', 70],
  ['resealed one', SECRETS],
  ['resealed all', 1],
  ['verified', 1],
  ['finished', 1],
];

describe('sluice rotate-key without SLUICE_SECRET_KEY', () => {
  it('replaces the key in secret.key, which alone opens every secret then', async () => {
    const old = secretKeyOf(dir, null);
    const before = await filled(old);
    expect(await rotates()).toMatch(/^150 secrets are encrypted with the new key, and none with the former\.\n/);
    const key = secretKeyOf(dir, null);
    expect(key.equals(old)).toBe(false);
    expect(await secretsWith(key)).toEqual(before);
    await expect(secretsWith(old)).rejects.toThrow(/cannot be decrypted/);
    expect(
      readdirSync(dir)
        .filter((name) => name.startsWith('secret'))
        .sort(),
    ).toEqual(['secret.check', 'secret.key']);
    expect(statSync(join(dir, 'secret.key')).mode & 0o777).toBe(0o600);
    await rotates();
    expect(await secretsWith(secretKeyOf(dir, null))).toEqual(before);
  });

  it.each(STEPS)('loses nothing when it is killed after "%s" (%i), and continues', async (step, times) => {
    const old = secretKeyOf(dir, null);
    const before = await filled(old);
    await dies(step, times);
    const next = join(dir, 'secret.key.next');
    if (step === 'locked') expect(secretKeyOf(dir, null)).toEqual(old);
    else if (step !== 'finished') {
      expect(() => secretKeyOf(dir, null)).toThrow(
        /rotation of the secret key did not end: run `sluice rotate-key` again/,
      );
      const both = [next, join(dir, 'secret.key')].map((file) => Buffer.from(readFileSync(file, 'utf8'), 'base64'));
      expect(await secretsWith(both[0] ?? old, both[1])).toEqual(before);
    }
    await rotates();
    expect(existsSync(next)).toBe(false);
    expect(secretKeyOf(dir, null).equals(old)).toBe(false);
    expect(await secretsWith(secretKeyOf(dir, null))).toEqual(before);
  });

  it('loses nothing when it is killed between the replacements of its two files', async () => {
    const before = await filled(secretKeyOf(dir, null));
    await dies('verified');
    const next = Buffer.from(readFileSync(join(dir, 'secret.key.next'), 'utf8'), 'base64');
    const check = createHmac('sha256', next).update('sluice secret key check').digest('hex').slice(0, 32);
    writeFileSync(join(dir, 'secret.check'), `${check}\n`);
    await rotates();
    expect(secretKeyOf(dir, null)).toEqual(next);
    expect(await secretsWith(next)).toEqual(before);
  });

  it('is refused without secret.key, with a wrong one, and while a process has the directory', async () => {
    const key = secretKeyOf(dir, null);
    const engines = await openEmbedded({ dataDir: dir, secretKey: key, clock: systemClock, onFatal: () => undefined });
    await expect(rotates()).rejects.toThrow(/is in use by the process with pid \d+: stop it/);
    await engines.close();
    expect(existsSync(join(dir, 'secret.key.next'))).toBe(false);
    writeFileSync(join(dir, 'secret.key'), Buffer.alloc(32, 1).toString('base64'));
    await expect(rotates()).rejects.toThrow(/secret\.key is not the key that .* was created with/);
    rmSync(join(dir, 'secret.key'));
    await expect(rotates()).rejects.toThrow(/secret\.key is missing: put it back/);
  });
});

describe('sluice rotate-key with SLUICE_SECRET_KEY', () => {
  const both = { SLUICE_SECRET_KEY: NEW, SLUICE_SECRET_KEY_PREVIOUS: OLD };
  const [oldKey, newKey] = [Buffer.from(OLD, 'hex'), Buffer.from(NEW, 'hex')];

  it.each(STEPS)('continues with the same settings after it was killed at "%s" (%i)', async (step, times) => {
    const before = await filled(secretKeyOf(dir, OLD));
    await dies(step, times, both);
    // A server that has both keys reads every secret at any time.
    expect(await secretsWith(secretKeyOf(dir, NEW, OLD), oldKey)).toEqual(before);
    await rotates(both);
    expect(await secretsWith(secretKeyOf(dir, NEW))).toEqual(before);
    expect(() => secretKeyOf(dir, OLD)).toThrow(/SLUICE_SECRET_KEY is not the key/);
    expect(await secretsWith(newKey)).toEqual(before);
  });

  it('moves from secret.key to the setting, and removes the file', async () => {
    const old = secretKeyOf(dir, null);
    const before = await filled(old);
    await rotates({ SLUICE_SECRET_KEY: NEW, SLUICE_SECRET_KEY_PREVIOUS: old.toString('hex') });
    expect(existsSync(join(dir, 'secret.key'))).toBe(false);
    expect(await secretsWith(secretKeyOf(dir, NEW))).toEqual(before);
  });

  it.each([
    [{ SLUICE_SECRET_KEY: NEW }, /SLUICE_SECRET_KEY_PREVIOUS is not given: give the new key as/],
    [{ SLUICE_SECRET_KEY: NEW, SLUICE_SECRET_KEY_PREVIOUS: 'cc'.repeat(32) }, /PREVIOUS is not the key that/],
    [{ SLUICE_SECRET_KEY: NEW, SLUICE_SECRET_KEY_PREVIOUS: NEW }, /PREVIOUS is the same key as SLUICE_SECRET_KEY/],
    [{ SLUICE_SECRET_KEY_PREVIOUS: OLD }, /PREVIOUS is given without SLUICE_SECRET_KEY/],
  ])('is refused with %j, and changes nothing', async (env, words) => {
    const before = await filled(secretKeyOf(dir, OLD));
    await expect(rotates(env)).rejects.toThrow(words);
    expect(await secretsWith(secretKeyOf(dir, OLD))).toEqual(before);
  });
});
