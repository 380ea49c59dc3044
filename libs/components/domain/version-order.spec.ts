import { describe, expect, it } from '@jest/globals';
import { isWanted } from './version-order.js';

describe('a wanted version', () => {
  it.each<[wanted: string, fits: readonly string[], others: readonly string[]]>([
    ['1.2.3', ['1.2.3'], ['1.2.4', '1.2', 'v1.2.3']],
    ['next', ['next'], ['1.2.3']],
    ['^1.2.3', ['1.2.3', '1.2.4', '1.10.0'], ['1.2.2', '2.0.0', '1.3.0-beta', 'next']],
    ['^0.2.3', ['0.2.3', '0.2.9'], ['0.2.2', '0.3.0', '1.0.0']],
    ['^0.0.3', ['0.0.3'], ['0.0.4', '0.1.0']],
    ['^0.0.0', ['0.0.0'], ['0.0.1']],
    ['^1.2.3-beta.1', ['1.2.3-beta.2', '1.2.3', '1.9.0'], ['1.2.3-alpha', '1.3.0-beta']],
    ['^next', [], ['next', '1.0.0']],
    ['', [], ['1.0.0']],
  ])('%s', (wanted, fits, others) => {
    expect(fits.filter((version) => !isWanted(version, wanted))).toEqual([]);
    expect(others.filter((version) => isWanted(version, wanted))).toEqual([]);
  });
});
