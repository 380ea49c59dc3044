import { describe, expect, it } from '@jest/globals';
import { tokenMatches, newTokenHash } from './token-hash.js';

describe('a token', () => {
  it('is known by its hash, which is another each time', () => {
    const [first, second] = [newTokenHash('token-of-mine'), newTokenHash('token-of-mine')];
    expect(first.keyHash).not.toBe(second.keyHash);
    for (const auth of [first, second]) {
      expect(JSON.stringify(auth)).not.toContain('token-of-mine');
      expect(tokenMatches(auth, 'token-of-mine')).toBe(true);
      for (const other of ['', 'token-of-min', 'token-of-mine ', 'token-of-minE'])
        expect(tokenMatches(auth, other)).toBe(false);
    }
  });
});
