import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { checkWebhookUrl } from './webhook-url.js';

const refusal = (url: string): DomainError => {
  try {
    checkWebhookUrl(url);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error(`${url} was accepted`);
};

describe('the URL of a webhook', () => {
  it.each([
    'https://example.com',
    'http://example.com:8080/path?query=1#fragment',
    'HTTPS://EXAMPLE.COM/',
    'http://127.0.0.1:3000/hook',
    'http://[::1]/hook',
    'https://bücher.example/',
  ])('may be %s', (url) => expect(checkWebhookUrl(url)).toBe(url));

  it('is trimmed', () => expect(checkWebhookUrl('  https://example.com\n')).toBe('https://example.com'));

  // docs/reference/rest-api.md#webhook-url
  it.each([
    ['', 'has no protocol'],
    ['example.com/hook', 'has no protocol'],
    ['//example.com/hook', 'has no protocol'],
    ['ftp://example.com', 'has the protocol ftp'],
    ['javascript:alert(1)', 'has the protocol javascript'],
    ['file:///etc/passwd', 'has the protocol file'],
    ['localhost:3000/hook', 'has the protocol localhost'],
    ['http://', 'has no hostname'],
    ['http:///hook', 'has no hostname'],
    ['http:example.com', 'has no hostname'],
    ['https://?x', 'has no hostname'],
    ['https://exa mple.com', 'cannot be parsed'],
    ['https://example.com:99999', 'cannot be parsed'],
    [`https://example.com/${'x'.repeat(2_048)}`, 'is 2068 characters long, the limit is 2048'],
  ])('must not be "%s"', (url, why) => {
    const error = refusal(url);
    expect(error.code).toBe('webhook.invalid_url');
    expect(error.message).toContain('url must start with http:// or https:// and include a hostname');
    expect(error.message).toContain(why);
    expect(error.details).toMatchObject({ field: 'url' });
  });

  it('must hold no password, and the error does not repeat it', () => {
    const error = refusal('https://user:secret@example.com/');
    expect(error.message).toContain('user name or password');
    expect(JSON.stringify([error.message, error.details])).not.toContain('secret');
  });
});
