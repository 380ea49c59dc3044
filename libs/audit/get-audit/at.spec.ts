import { describe, expect, it } from '@jest/globals';
import { parseAt } from './at.js';
import { masked } from './masked.js';

describe('at', () => {
  // docs/reference/rest-api.md#audit-at
  it.each([
    ['0', { revision: 0n }],
    ['999999999', { revision: 999999999n }],
    ['1700000000', { time: 1_700_000_000_999 }],
    ['1700000000123', { time: 1_700_000_000_123 }],
    ['2023-11-14T22:13:20.123Z', { time: 1_700_000_000_123 }],
    ['2023-11-14T22:13:20Z', { time: 1_700_000_000_999 }],
    ['2023-11-14T22:13:20', { time: 1_700_000_000_999 }],
    ['2023-11-15T00:13:20+02:00', { time: 1_700_000_000_999 }],
    ['2023-11-15T00:13:20 02:00', { time: 1_700_000_000_999 }],
    ['2023-11-14', { time: Date.UTC(2023, 10, 14) }],
    [' 3 ', { revision: 3n }],
  ])('%s is %j', (given, at) => {
    expect(parseAt(given)).toEqual(at);
  });

  it.each(['', 'yesterday', '-1', '1.5', '2023-13-01', '2023-11-14T25:00:00Z', '1e9', '12345678901234567', ['1'], 5])(
    '%j is refused',
    (given) => {
      expect(() => parseAt(given)).toThrow(/parameter at must be a revision.*got/);
    },
  );
});

describe('masked', () => {
  // docs/reference/rest-api.md#audit-masking
  it('hides references to secrets, wherever they are, and nothing else', () => {
    const event = {
      signingKeyRef: 'sec_1',
      keyHash: 'aa',
      codeHash: 'bb',
      definition: {
        values: { token: { secretRef: 'sec_2' }, url: { value: 'https://x' } },
        list: [{ secretRef: 'sec_3' }],
      },
      nothing: null,
    };
    expect(masked(event)).toEqual({
      signingKeyRef: '********',
      keyHash: '********',
      codeHash: 'bb',
      definition: { values: { token: '********', url: { value: 'https://x' } }, list: ['********'] },
      nothing: null,
    });
  });
});
