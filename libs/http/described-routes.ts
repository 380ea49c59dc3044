import { type JsonSchema } from './json-schema.js';
import { MAX_HEADER_TEXT } from './parameter-limits.js';

export type Method = 'get' | 'put' | 'post' | 'delete';

/** Properties that determine the headers and refusals of a route. */
export interface DescribedRoute {
  readonly method: Method;
  readonly path: string;
  readonly hasBody: boolean;
  /** Statuses that the route alone answers, beside those of its kind. */
  readonly refusals: readonly number[];
}

export interface HeaderParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** One resource that has a revision (docs/reference/rest-api.md#etag). */
const WITH_REVISION =
  /^\/v1\/(?:(?:sources|webhooks|accounts|data_stores|components|workflows)\/\{\w+\}|subscriptions)$/;
/** Its change by `POST`. */
const CHANGES_BY_POST = /^\/v1\/workflows\/\{\w+\}\/(?:deploy|rollback)$/;

const IF_MATCH_NAME = 'If-Match';
const IF_NONE_MATCH_NAME = 'If-None-Match';
/** Headers with an `ETag` or several. */
export const CONDITIONAL_HEADERS = [IF_MATCH_NAME, IF_NONE_MATCH_NAME] as const;

const IF_NONE_MATCH = header(
  IF_NONE_MATCH_NAME,
  'An `ETag` that the caller has; the answer is 304 while it is the same',
);
const IF_MATCH = header(
  IF_MATCH_NAME,
  'The `ETag` that the change is based on; the answer is 412 when it is another now',
);
const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'Unique to the request: a repeat within 24 hours gets the first answer',
  {
    type: 'string',
    maxLength: 255,
  },
);

function header(
  name: string,
  description: string,
  schema: JsonSchema = { type: 'string', maxLength: MAX_HEADER_TEXT },
): HeaderParameter {
  return { name, description, schema };
}

/** Headers that a route reads, beside those of every request. */
export const headersOf = ({ method, path }: DescribedRoute): readonly HeaderParameter[] => {
  if (method === 'post') return CHANGES_BY_POST.test(path) ? [IDEMPOTENCY_KEY, IF_MATCH] : [IDEMPOTENCY_KEY];
  if (!WITH_REVISION.test(path)) return [];
  return method === 'get' ? [IF_NONE_MATCH] : [IF_MATCH];
};

/** Refusals by status: the name in the document, and when it is sent. */
export const REFUSALS: Readonly<Record<string, readonly [name: string, text: string]>> = {
  400: ['BadRequest', 'A parameter is wrong or missing'],
  401: ['Unauthorized', 'There is no API key, or it is not in force'],
  403: [
    'Forbidden',
    'The caller may not do this: the key is for tools only, the key or the member only reads, or the workspace is of others',
  ],
  404: ['NotFound', "There is no such resource in the caller's workspaces"],
  409: ['Conflict', 'The state of the resource does not allow it now, or a request with the same Idempotency-Key runs'],
  412: ['PreconditionFailed', 'The resource has another revision than `If-Match` names'],
  413: ['TooLarge', 'The body, or what it would add, is too large'],
  415: ['UnsupportedMediaType', 'The body is neither JSON nor a form'],
  422: [
    'Unprocessable',
    'The request is understood and cannot be carried out: a hook failed, or the Idempotency-Key came with another request',
  ],
  429: ['TooManyRequests', 'Too many requests, or too much work that waits; `Retry-After` tells when to come again'],
  503: ['Unavailable', 'The server cannot do it now; `Retry-After` tells when to come again'],
  default: ['Failed', 'Refused or failed'],
};

/** Statuses with which a route that needs a key may refuse, as in REFUSALS. */
export const refusalsOf = (route: DescribedRoute): readonly string[] => {
  const { method, path, hasBody, refusals } = route;
  const isWrite = method !== 'get';
  const statuses = new Set([400, 401, 403, 429, 503, ...refusals]);
  if (path.includes('{')) statuses.add(404);
  if (isWrite) statuses.add(409);
  if (hasBody) for (const status of [413, 415]) statuses.add(status);
  if (method === 'post') statuses.add(422);
  if (headersOf(route).includes(IF_MATCH)) statuses.add(412);
  return [...[...statuses].sort().map(String), 'default'];
};

/** Whether the success of a route carries an `ETag`. */
export const hasEtag = ({ method, path }: DescribedRoute): boolean => method !== 'delete' && WITH_REVISION.test(path);
