import { describe, expect, it } from '@jest/globals';
import { bearerMatches, newBearerAuth } from './bearer-token.js';

describe('a token', () => {
  it('is known by its hash, which is another each time', () => {
    const [first, second] = [newBearerAuth('token-of-mine'), newBearerAuth('token-of-mine')];
    expect(first.keyHash).not.toBe(second.keyHash);
    for (const auth of [first, second]) {
      expect(JSON.stringify(auth)).not.toContain('token-of-mine');
      expect(bearerMatches(auth, 'token-of-mine')).toBe(true);
      for (const other of ['', 'token-of-min', 'token-of-mine ', 'token-of-minE'])
        expect(bearerMatches(auth, other)).toBe(false);
    }
  });
});
