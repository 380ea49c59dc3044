import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { isWeak, weakApiKey } from './weak-api-key.js';

const open = { host: '0.0.0.0', publicUrl: null };

describe('a given API key', () => {
  it.each([
    'my-first-api-key',
    'changemechangeme',
    'ChangeMe-ChangeMe-1',
    'aaaaaaaaaaaaaaaaaaaaaaaa',
    '1234567890123456',
    'abcdefghijklmnopqrst',
    'password-password',
    'sluice-secret-api-key-2026',
    'abababababababababab',
  ])('is weak: %s', (apiKey) => {
    const warning = weakApiKey({ ...open, apiKey });
    expect(warning).toMatch(/^SLUICE_API_KEY is easy to guess \(.+\), .* `openssl rand -hex 20`[^\n]*$/);
    expect(warning).not.toContain(apiKey);
  });

  it('is not weak when it is random, with or without a prefix of words', () => {
    for (let n = 0; n < 2_000; n++) {
      expect(isWeak(randomBytes(20).toString('hex'))).toBe(false);
      expect(isWeak(`test_${randomBytes(16).toString('hex')}`)).toBe(false);
      expect(isWeak(`sluice-api-key-${randomBytes(15).toString('base64url')}`)).toBe(false);
    }
  });

  it.each([
    ['127.0.0.1', null, false],
    ['::1', 'http://localhost:3000', false],
    ['127.0.0.1', 'https://sluice.example.com', true],
    ['192.168.0.7', null, true],
    ['0.0.0.0', 'http://localhost:3000', true],
  ])('that is weak is told on %s with the public URL %s: %s', (host, publicUrl, isTold) => {
    expect(weakApiKey({ apiKey: 'my-first-api-key', host, publicUrl }) !== undefined).toBe(isTold);
  });
});
