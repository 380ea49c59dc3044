import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { secretKeyOf } from './secret-key.js';
import { UnusableDataDirectory } from './unusable-data-directory.js';

describe('the secret key', () => {
  let root: string;
  let dir: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sluice-secret-'));
    dir = join(root, 'data');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is made on the first start, for this user only, and found by the next start', () => {
    const key = secretKeyOf(dir, null);
    expect(key).toHaveLength(32);
    expect(statSync(join(dir, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(secretKeyOf(dir, null)).toEqual(key);
    expect(readdirSync(dir).sort()).toEqual(['secret.check', 'secret.key']);
    expect(readFileSync(join(dir, 'secret.check'), 'utf8')).not.toContain(key.toString('hex').slice(0, 16));
  });

  it.each([
    ['hex', Buffer.alloc(32, 7).toString('hex')],
    ['base64', Buffer.alloc(32, 7).toString('base64')],
  ])('given in %s is used and not stored', (_, given) => {
    expect(secretKeyOf(dir, given)).toEqual(Buffer.alloc(32, 7));
    expect(existsSync(join(dir, 'secret.key'))).toBe(false);
  });

  it('is refused when it differs from the former one', () => {
    secretKeyOf(dir, 'ab'.repeat(32));
    expect(() => secretKeyOf(dir, 'cd'.repeat(32))).toThrow('SLUICE_SECRET_KEY is not the key that');
    expect(() => secretKeyOf(dir, null)).toThrow(/secret.key is missing.*SLUICE_SECRET_KEY/);
    expect(secretKeyOf(dir, 'ab'.repeat(32))).toHaveLength(32);
  });

  it('may be moved from the file into the environment', () => {
    const key = secretKeyOf(dir, null);
    rmSync(join(dir, 'secret.key'));
    expect(secretKeyOf(dir, key.toString('hex'))).toEqual(key);
  });

  it('is completed by the next start when the first one died after writing it', () => {
    const key = secretKeyOf(dir, null);
    rmSync(join(dir, 'secret.check'));
    expect(secretKeyOf(dir, null)).toEqual(key);
    expect(existsSync(join(dir, 'secret.check'))).toBe(true);
  });

  it('is named when it is damaged', () => {
    secretKeyOf(dir, null);
    writeFileSync(join(dir, 'secret.key'), 'abc');
    expect(() => secretKeyOf(dir, null)).toThrow(
      new UnusableDataDirectory(
        `${join(dir, 'secret.key')} must hold 32 bytes in base64 or hexadecimal digits, and it holds 2 bytes: put the key of this installation back from a backup`,
      ),
    );
  });
});
