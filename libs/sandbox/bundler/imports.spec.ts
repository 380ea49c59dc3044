import { describe, expect, it } from '@jest/globals';
import { subPathOf, withoutVersion } from './imports.js';

describe('a specifier', () => {
  it.each([
    ['name', '', 'name'],
    ['name/sub/file.js', '/sub/file.js', 'name/sub/file.js'],
    ['name@1.2.3', '', 'name'],
    ['name@^1.0.0/sub', '/sub', 'name/sub'],
    ['@scope/name', '', '@scope/name'],
    ['@scope/name/sub', '/sub', '@scope/name/sub'],
    ['@scope/name@1.2.3', '', '@scope/name'],
    ['@scope/name@~1.2.0/sub', '/sub', '@scope/name/sub'],
  ])('%s has the path %j within its package, and is %s without its version', (specifier, sub, plain) => {
    expect(subPathOf(specifier)).toBe(sub);
    expect(withoutVersion(specifier)).toBe(plain);
  });
});
