import { describe, expect, it } from '@jest/globals';
import { DATA_STORE_LIMITS, storeKeyFault } from './data-store-calls.js';

describe('keys of data stores', () => {
  it.each([
    ['', 'empty'],
    ['a\0', 'NUL'],
    ['a\ud800', 'half of a surrogate pair'],
    ['x'.repeat(DATA_STORE_LIMITS.keyLength + 1), `at most ${DATA_STORE_LIMITS.keyLength} characters`],
  ])('are refused by name: %j', (key, text) => {
    expect(storeKeyFault(key)).toContain(text);
  });

  it.each(['$set', 'a.b', '__proto__', '\u{1f600}', ' '])('may be %j', (key) => {
    expect(storeKeyFault(key)).toBeUndefined();
  });
});
