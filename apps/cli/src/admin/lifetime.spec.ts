import { describe, expect, it } from '@jest/globals';
import { endAfter } from './lifetime.js';

describe('the lifetime of a key', () => {
  it.each([
    ['1m', 60],
    ['12h', 43_200],
    ['30d', 2_592_000],
    ['8w', 4_838_400],
    ['3650d', 315_360_000],
  ])('%s ends after %d seconds, at a whole one', (given, seconds) => {
    expect(endAfter(given, 1_700_000_000_123)).toBe((1_700_000_000 + seconds) * 1_000);
  });

  it.each(['', '0d', '30', 'd', '30 d', '-1d', '1.5h', '30x', '30dd', '3651d', '999999999w'])(
    'is never %j',
    (given) => {
      expect(() => endAfter(given, 0)).toThrow(/^--expires-in must be a number with m, h, d or w .*; got /);
    },
  );
});
