import { DomainError } from '#libs/kernel/domain-error.js';

const MAX_LENGTH = 2048;
/** The limit of DNS. Each delivery parses the URL, and a longer name of another script takes milliseconds. */
const MAX_HOSTNAME = 253;

/**
 * Checks the URL of a webhook (docs/reference/rest-api.md#webhook-url) and trims the blanks around it. Each delivery
 * checks whether the current address of the name may be reached. Throws webhook.invalid_url.
 */
export const checkWebhookUrl = (given: string): string => {
  const url = given.trim();
  if (url.length > MAX_LENGTH) throw invalid(`is ${url.length} characters long, the limit is ${MAX_LENGTH}`, url);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw invalid('has no protocol', url);
  if (scheme !== 'http' && scheme !== 'https') throw invalid(`has the protocol ${scheme}`, url);
  // The parser reads `http:host` and `http:///host` as `http://host`, so the hostname's place is checked here.
  if (!/^https?:\/\/[^/?#\\\s]/i.test(url)) throw invalid('has no hostname', url);
  if (!URL.canParse(url)) throw invalid('cannot be parsed', url);
  const { hostname, username, password } = new URL(url);
  if (hostname === '') throw invalid('has no hostname', url);
  if (hostname.length > MAX_HOSTNAME)
    throw invalid(`has a hostname of ${hostname.length} characters, the limit is ${MAX_HOSTNAME}`, url);
  if (username !== '' || password !== '') {
    throw invalid('holds a user name or password, which are not sent: check the signature instead');
  }
  return url;
};

const invalid = (what: string, url?: string): DomainError => {
  const actual = url === undefined ? {} : { actual: url.length > 100 ? `${url.slice(0, 100)}…` : url };
  return new DomainError(
    'webhook.invalid_url',
    `url must start with http:// or https:// and include a hostname, such as https://example.com/hook; it ${what}` +
      (actual.actual === undefined ? '' : `, got ${actual.actual === '' ? '(empty)' : actual.actual}`),
    { field: 'url', ...actual },
  );
};
