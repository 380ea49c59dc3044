import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { readOption, readText } from './read-file.js';

describe('a file that an option names', () => {
  const dir = tempDir('read-file');
  afterAll(() => removeDir(dir));

  it('is read as a whole, characters at the ends of chunks too', () => {
    const text = 'ä'.repeat(100_001);
    writeFileSync(join(dir, 'long'), `.${text}`);
    expect(readText(join(dir, 'long')) === `.${text}`).toBe(true);
    writeFileSync(join(dir, 'empty'), '');
    expect(readText(join(dir, 'empty'))).toBe('');
  });

  it('is refused beyond its bound, also when it has no end and no size', () => {
    writeFileSync(join(dir, 'ten'), '1234567890');
    expect(readText(join(dir, 'ten'), 10)).toBe('1234567890');
    expect(() => readText(join(dir, 'ten'), 9)).toThrow(/ten has more than 9 bytes/);
    expect(() => readText('/dev/zero')).toThrow(/more than 16777216 bytes/);
  });

  it('may be a pipe', () => {
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    execFileSync('sh', ['-c', `echo through > '${join(dir, 'pipe')}' &`], { stdio: 'ignore' });
    expect(readText(join(dir, 'pipe'))).toBe('through\n');
  });

  it('is named with its option when it cannot be read', () => {
    expect(() => readOption('--props', join(dir, 'none'))).toThrow(/^--props: .*ENOENT/);
  });
});
