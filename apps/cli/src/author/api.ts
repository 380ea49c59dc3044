import { randomUUID } from 'node:crypto';
import { setTimeout as setLate } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { readLimited } from '#libs/async/read-limited.js';
import { version } from '#libs/hosting/version.js';
import { fieldText, objectsIn } from './json.js';
import { observationText } from './observations.js';
import { CommandFailure, type Exit } from './failure.js';
import { type Server } from './server.js';

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With a leading slash, and encoded. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** JSON that is sent as it is, in place of `body`. */
  readonly json?: string;
  /** Revision that the resource must have. */
  readonly revision?: number;
}

const TRIES = 4;
/** Longest time from the first try to the begin of the last. */
const RETRY_MS = 30_000;
const REQUEST_MS = 60_000;
/** A server begins a stream at once. When none begins, a pooled connection may be dead, and the next try opens another. */
const STREAM_MS = 10_000;
/** A server could answer without end. */
const MOST_BYTES = 64 * 1024 * 1024;
const OVERLOADED: ReadonlySet<number> = new Set([429, 503]);

type Pause = (ms: number) => Promise<unknown>;

/** Sends a request that may be repeated. Resolves with the JSON of the answer. Rejects with CommandFailure. */
export const ask = async (server: Server, asked: Asked, pauseMs: Pause = setTimeout): Promise<unknown> =>
  jsonIn(await askForText(server, asked, pauseMs));

/** As `ask`, and resolves with the body of the answer as it came. */
export const askForText = async (
  server: Server,
  asked: Asked,
  pauseMs: Pause = setTimeout,
  mostMs = REQUEST_MS,
): Promise<string> => {
  const last = Date.now() + RETRY_MS;
  // The same in each try.
  const repeat = asked.method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
  for (let round = 1; ; round++) {
    const answer = await answered(server, asked, repeat, mostMs);
    if (answer.kind === 'answer' && answer.status < 300) return answer.text;
    const waitMs = answer.retryMs ?? 1_000 * 2 ** (round - 1);
    const isAgain = answer.kind === 'lost' || (answer.kind === 'answer' && OVERLOADED.has(answer.status));
    if (!isAgain || round === TRIES || Date.now() + waitMs > last) throw failureOf(server, answer);
    await pauseMs(waitMs);
  }
};

/**
 * Opens a stream of the server. Resolves with its body once the server has begun to answer. Rejects with CommandFailure,
 * without another try.
 */
export const askForStream = async (
  server: Server,
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  mostMs = STREAM_MS,
): Promise<ReadableStream<Uint8Array>> => {
  const { url } = server;
  // Ends what the server does not begin in time, and no stream that is open.
  const late = new AbortController();
  const timer = setLate(() => late.abort(new Error(`no answer within ${mostMs / 1_000} s`)), mostMs);
  try {
    const response = await opened(server, path, headers, AbortSignal.any([signal, late.signal]));
    const { status, body } = response;
    if (status === 200 && body !== null) return body as ReadableStream<Uint8Array>;
    const text = await textOf(response).catch(() => undefined);
    throw refusal(url, status, text === undefined ? undefined : jsonIn(text));
  } finally {
    clearTimeout(timer);
  }
};

const opened = async (
  { url, apiKey, tell }: Server,
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> => {
  try {
    const response = await fetch(`${url}${path}`, {
      headers: { ...headers, authorization: `Bearer ${apiKey}`, 'user-agent': `sluice-cli/${version()}` },
      redirect: 'manual',
      signal,
    });
    tell?.(`GET ${url}${path}: ${response.status}, request ${response.headers.get('x-request-id') ?? 'without id'}`);
    return response;
  } catch (error) {
    throw unreachable(url, reasonOf(error));
  }
};

type Answer =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string; readonly retryMs?: number }
  /** No whole answer came, and another try may get one. */
  | { readonly kind: 'lost'; readonly reason: string; readonly retryMs?: never }
  | { readonly kind: 'endless'; readonly status: number; readonly retryMs?: never }
  | { readonly kind: 'refused'; readonly reason: string; readonly status: 0; readonly retryMs?: never };

const answered = async (
  { url, apiKey, tell }: Server,
  { method, path, body, json = body === undefined ? undefined : JSON.stringify(body), revision }: Asked,
  headers: Readonly<Record<string, string>>,
  mostMs: number,
): Promise<Answer> => {
  const startedAt = performance.now();
  const told = (result: string): void =>
    tell?.(`${method} ${url}${path}: ${result}, ${Math.round(performance.now() - startedAt)} ms`);
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...headers,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(revision === undefined ? {} : { 'if-match': `"${revision}"` }),
        authorization: `Bearer ${apiKey}`,
        'user-agent': `sluice-cli/${version()}`,
      },
      ...(json === undefined ? {} : { body: json }),
      // Another server must not get the key.
      redirect: 'manual',
      signal: AbortSignal.timeout(mostMs),
    });
    const text = await textOf(response);
    told(`${response.status}, request ${response.headers.get('x-request-id') ?? 'without id'}`);
    if (text === undefined) return { kind: 'endless', status: response.status };
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const retryMs = Number.isFinite(seconds) ? { retryMs: Math.max(0, seconds * 1_000) } : {};
    return { kind: 'answer', status: response.status, text, ...retryMs };
  } catch (error) {
    const reason = reasonOf(error);
    told(reason);
    return REFUSED.test(reason) ? { kind: 'refused', reason, status: 0 } : { kind: 'lost', reason };
  }
};

/** The body, or undefined when it is longer than any answer of a server of Sluice. */
const textOf = async ({ body }: Response): Promise<string | undefined> =>
  body === null ? '' : (await readLimited(body as AsyncIterable<Uint8Array>, MOST_BYTES))?.toString('utf8');

/** Nothing listens, or it is not trusted, so that another try changes nothing. */
const REFUSED = /^(?:ECONNREFUSED|ENOTFOUND|ERR_TLS_\w+|\w*CERT\w*|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|bad port)$/;

/** Undefined for what is no JSON. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const reasonOf = (error: unknown): string => {
  const cause = field(error, 'cause');
  for (const each of [field(cause, 'code'), field(cause, 'message'), field(error, 'message')])
    if (typeof each === 'string' && each !== '') return each;
  return 'unknown error';
};

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && key in value ? (value as Record<string, unknown>)[key] : undefined;

/** The server is there, and not trusted. */
const UNTRUSTED = /^(?:ERR_TLS_\w+|\w*CERT\w*|\w*SELF_SIGNED\w*|UNABLE_TO_\w+)$/;

const failureOf = ({ url }: Server, answer: Answer): CommandFailure => {
  switch (answer.kind) {
    case 'refused':
    case 'lost':
      return unreachable(url, answer.reason);
    case 'endless':
      return unexpected(url, answer.status, `with more than ${MOST_BYTES / 1024 / 1024} MB`);
    case 'answer':
      return refusal(url, answer.status, jsonIn(answer.text));
  }
};

const unreachable = (url: string, reason: string): CommandFailure =>
  UNTRUSTED.test(reason)
    ? new CommandFailure({
        exit: 7,
        code: 'tls',
        message: `${url} is not trusted (${reason}): let NODE_EXTRA_CA_CERTS name a file with its authority`,
      })
    : new CommandFailure({
        exit: 7,
        code: 'no_server',
        message: `no server answers at ${url} (${reason}). Start one with "sluice serve", or name another with --url.`,
        next: 'sluice serve',
      });

const unexpected = (url: string, status: number, how: string): CommandFailure =>
  new CommandFailure({
    exit: 1,
    code: 'unexpected_answer',
    status,
    message: `${url} answered ${status} ${how}: check the address`,
  });

/** By what the API answers when it refuses a request. */
const refusal = (url: string, status: number, body: unknown): CommandFailure => {
  const [error, code, details] = [field(body, 'error'), field(body, 'code'), field(body, 'details')];
  if (typeof error !== 'string' || typeof code !== 'string')
    return unexpected(url, status, 'in a way that a server of Sluice does not');
  const found = typeof details === 'object' && details !== null ? { ...details } : {};
  const exit = REFUSED_CODES.has(code) ? 6 : exitOf(status);
  return new CommandFailure({
    exit,
    code,
    status,
    message: error,
    details: found,
    ...(OBSERVED.has(code) ? observed(error, body, found) : {}),
  });
};

/** What a hook or an action did before it failed, beside the details (docs/reference/errors.md#hook-failed). */
const observed = (
  error: string,
  body: unknown,
  details: object,
): Pick<CommandFailure, 'message' | 'details' | 'lines'> => {
  const observations = objectsIn(field(body, 'observations') ?? field(body, 'os'));
  return {
    // The `error` for a hook is a fixed text for clients of the original.
    message: fieldText(details, 'message') || error,
    details: { ...details, observations },
    lines: observations.map(observationText),
  };
};

const OBSERVED: ReadonlySet<string> = new Set(['hook_failed', 'action_failed']);

/** A component, a prop or a definition is refused, with 400. */
const REFUSED_CODES: ReadonlySet<string> = new Set([
  'invalid_component',
  'invalid_prop',
  'missing_prop',
  'invalid_definition',
]);

const exitOf = (status: number): Exclude<Exit, 0> => {
  switch (status) {
    case 401:
    case 403:
      return 3;
    case 404:
      return 4;
    case 409:
    case 412:
      return 5;
    case 422:
      return 6;
    case 429:
    case 503:
      return 8;
    default:
      return 1;
  }
};
