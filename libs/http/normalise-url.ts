import { DomainError } from '#libs/kernel/domain-error.js';

/** Left as they are in a path segment, beside what encodeURIComponent leaves: our routes name `$errors`. */
const PLAIN = /%(24|3A|40|2C|2B|2A|3D|3B)/g;

/**
 * The URL as the router is to see it (decisions.md 1.1): no trailing slashes; `…/event_summaries&expand=event` read as
 * a query; segments percent-decoded (`%24errors`). Throws request.invalid_parameter on a malformed escape.
 */
export const normaliseUrl = (url: string): string => {
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
  return query === '' ? path : `${path}?${query}`;
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
    throw new DomainError('request.invalid_parameter', `path segment ${segment} is not valid percent-encoding`, {
      field: 'path',
      actual: segment,
    });
  }
};
