import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { version } from '#libs/hosting/version.js';
import { CommandFailure } from './failure.js';
import { type Outcome } from './outcome.js';
import { type Server } from './server.js';

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With a leading slash, and encoded. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

const TRIES = 4;
/** Longest time from the first try to the begin of the last. */
const RETRY_MS = 30_000;
const REQUEST_MS = 60_000;
const OVERLOADED: ReadonlySet<number> = new Set([429, 503]);

/** Sends a request that may be repeated. Resolves with the JSON of the answer. Rejects with CommandFailure. */
export const ask = async (
  server: Server,
  asked: Asked,
  pauseMs: (ms: number) => Promise<unknown> = setTimeout,
): Promise<unknown> => {
  const last = Date.now() + RETRY_MS;
  // The same in each try.
  const repeat = asked.method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
  for (let round = 1; ; round++) {
    const answer = await answered(server, asked, repeat);
    if (answer.kind === 'answer' && answer.status < 300) return answer.body;
    const waitMs = answer.retryMs ?? 1_000 * 2 ** (round - 1);
    const isAgain = answer.kind === 'lost' || OVERLOADED.has(answer.status);
    if (!isAgain || round === TRIES || Date.now() + waitMs > last) throw failureOf(server, answer);
    await pauseMs(waitMs);
  }
};

type Answer =
  | { readonly kind: 'answer'; readonly status: number; readonly body: unknown; readonly retryMs?: number }
  /** No whole answer came, and another try may get one. */
  | { readonly kind: 'lost'; readonly reason: string; readonly retryMs?: never }
  | { readonly kind: 'refused'; readonly reason: string; readonly status: 0; readonly retryMs?: never };

const answered = async (
  { url, apiKey }: Server,
  { method, path, body }: Asked,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> => {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        authorization: `Bearer ${apiKey}`,
        'user-agent': `sluice-cli/${version()}`,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Another server must not get the key.
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const text = await response.text();
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const retryMs = Number.isFinite(seconds) ? { retryMs: Math.max(0, seconds * 1_000) } : {};
    return { kind: 'answer', status: response.status, body: jsonIn(text), ...retryMs };
  } catch (error) {
    const reason = reasonOf(error);
    return REFUSED.test(reason) ? { kind: 'refused', reason, status: 0 } : { kind: 'lost', reason };
  }
};

/** Nothing listens, or it is not trusted, so that another try changes nothing. */
const REFUSED = /^(?:ECONNREFUSED|ENOTFOUND|ERR_TLS_\w+|\w*CERT\w*|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|bad port)$/;

const jsonIn = (text: string): unknown => {
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

const failureOf = ({ url }: Server, answer: Answer): CommandFailure => {
  if (answer.kind !== 'answer')
    return new CommandFailure({
      exit: 7,
      code: 'no_server',
      message: `no server answers at ${url} (${answer.reason}). Start it, or name another with --url.`,
    });
  const { status, body } = answer;
  const [error, code, details] = [field(body, 'error'), field(body, 'code'), field(body, 'details')];
  if (typeof error !== 'string' || typeof code !== 'string')
    return new CommandFailure({
      exit: 1,
      code: 'unexpected_answer',
      status,
      message: `${url} answered ${status} in a way that a server of Sluice does not: check the address`,
    });
  return new CommandFailure({
    exit: REFUSED_CODES.has(code) ? 6 : exitOf(status),
    code,
    status,
    message: error,
    details: typeof details === 'object' && details !== null ? { ...details } : {},
  });
};

/** A component, a prop or a definition is refused, with 400. */
const REFUSED_CODES: ReadonlySet<string> = new Set([
  'invalid_component',
  'invalid_prop',
  'missing_prop',
  'invalid_definition',
]);

const exitOf = (status: number): Exclude<Outcome['exit'], 0> => {
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
