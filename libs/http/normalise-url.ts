import { DomainError } from '#libs/kernel/domain-error.js';
import { shownPath } from '#libs/kernel/mask-secrets.js';

/** Escapes that are decoded although encodeURIComponent writes them. Routes contain names such as `$errors`. */
const PLAIN = /%(24|3A|40|2C|2B|2A|3D|3B)/g;

/** What the hosted service sends at one of its addresses of streams. */
export type HostedStream = 'events' | 'logs' | 'workflow';

/** Addresses at which the hosted service serves streams (docs/reference/rest-api.md#stream-addresses). */
const HOSTED: readonly (readonly [pattern: RegExp, route: string, sends: HostedStream])[] = [
  [/^\/sources\/([^/]+)\/sse$/, '/v1/sources/$1/sse', 'events'],
  [/^(?:\/v1)?\/sse\/dc\/([^/]+)\/emits$/, '/v1/sources/$1/sse', 'events'],
  [/^(?:\/v1)?\/sse\/dc\/([^/]+)\/observations$/, '/v1/sources/$1/sse', 'logs'],
  [/^(?:(?:\/v1)?\/pipelines|\/workflows)\/([^/]+)\/sse$/, '/v1/workflows/$1/sse', 'workflow'],
];

export interface NormalUrl {
  readonly url: string;
  /** For an address of the hosted service, which stands for a route of the API. */
  readonly hosted?: HostedStream;
}

/**
 * Brings a URL into the form that the router expects (docs/reference/rest-api.md#url-forms). Removes trailing slashes,
 * reads `…/event_summaries&expand=event` as a query and decodes segments (`%24errors`). Throws
 * request.invalid_parameter on a malformed escape.
 */
export const normaliseUrl = (url: string): NormalUrl => {
  const mark = url.indexOf('?');
  let path = mark === -1 ? url : url.slice(0, mark);
  let query = mark === -1 ? '' : url.slice(mark + 1);

  path = withoutTrailingSlashes(path);
  const lastSegment = path.lastIndexOf('/') + 1;
  const ampersand = path.indexOf('&', lastSegment);
  if (ampersand !== -1) {
    query = [path.slice(ampersand + 1), query].filter((part) => part !== '').join('&');
    path = withoutTrailingSlashes(path.slice(0, ampersand));
  }
  if (path.includes('%')) path = path.split('/').map(decoded).join('/');
  const address = HOSTED.find(([pattern]) => pattern.test(path));
  if (address) path = path.replace(address[0], address[1]);
  return { url: query === '' ? path : `${path}?${query}`, ...(address ? { hosted: address[2] } : {}) };
};

const withoutTrailingSlashes = (path: string): string => {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  return path.slice(0, end);
};

const decoded = (segment: string): string => {
  try {
    return encodeURIComponent(decodeURIComponent(segment)).replace(PLAIN, (escape) => decodeURIComponent(escape));
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    const actual = shownPath(segment);
    throw new DomainError('request.invalid_parameter', `path segment ${actual} is not valid percent-encoding`, {
      field: 'path',
      actual,
    });
  }
};
