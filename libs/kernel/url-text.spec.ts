import { describe, expect, it } from '@jest/globals';
import { MAX_URL_CHARS, urlIn } from './url-text.js';

describe('a URL in a text', () => {
  it('is read up to its limit', () => {
    expect(urlIn('https://Example.com/a')?.href).toBe('https://example.com/a');
    expect(urlIn('../b', new URL('https://example.com/a/c'))?.href).toBe('https://example.com/b');
    expect(urlIn('no URL')).toBeUndefined();
    const longest = `https://e.com/${'a'.repeat(MAX_URL_CHARS - 14)}`;
    expect(urlIn(longest)?.href).toBe(longest);
    expect(urlIn(`${longest}a`)).toBeUndefined();
  });

  // The engine's parser takes an hour for this host.
  it('is not parsed beyond it', () => {
    const host = Array.from({ length: 4_000_000 }, (_, n) => String.fromCharCode(0x4e00 + (n % 20_000))).join('');
    expect(urlIn(`http://${host}.com`)).toBeUndefined();
  });
});
