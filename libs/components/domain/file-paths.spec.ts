import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { checkFilePaths } from './file-paths.js';

describe('paths of files', () => {
  it.each(['util.js', 'lib/util.js', './lib/util.js', 'a b/ü.mjs', 'constructor', '.hidden', 'x'.repeat(512)])(
    '%j is accepted',
    (path) => {
      expect(() => checkFilePaths({ [path]: '' })).not.toThrow();
    },
  );

  it.each([
    ['', 'names no file'],
    ['.', 'names no file'],
    ['a/', 'names no file'],
    ['a//b', 'names no file'],
    ['/etc/passwd', 'is absolute'],
    ['../secret.key', 'leads out'],
    ['a/../../b', 'leads out'],
    ['a\\b', 'backslash'],
    ['a\0b', 'control character'],
    ['a\nb', 'control character'],
    ['\ud800.js', 'surrogate'],
    ['x'.repeat(513), '513 bytes, the limit is 512'],
    ['__proto__', '__proto__'],
    ['__proto__/x.js', '__proto__'],
  ])('%j is refused: %s', (path, why) => {
    const files = Object.fromEntries([[path, '']]);
    let thrown: unknown;
    try {
      checkFilePaths(files);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(DomainError);
    expect(thrown).toMatchObject({ code: 'request.invalid_parameter', details: { field: 'files' } });
    expect((thrown as DomainError).message).toContain(why);
    expect((thrown as DomainError).message.length).toBeLessThan(300);
  });
});
