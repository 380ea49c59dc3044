import { request, type Dispatcher } from 'undici';
import { withDeadline } from '#libs/async/deadline.js';
import { readLimited } from '#libs/async/read-limited.js';
import { MAX_URL_CHARS, urlIn } from '#libs/kernel/url-text.js';
import { EgressRefused } from './address-policy.js';

export interface FetchLimits {
  /** Guarded dispatcher of createEgress. */
  readonly dispatcher: Dispatcher;
  /** Size limit in bytes, by default 1 MB (1048576). */
  readonly maxBytes?: number;
  /** Time limit that includes the look-up of names, the wait for a connection, redirects and body. Default: 10000. */
  readonly timeoutMs?: number;
  /** Number of redirects followed, by default 3. */
  readonly maxRedirects?: number;
  /** Ends the fetch early. It then rejects with any FetchError. */
  readonly signal?: AbortSignal;
}

export interface FetchedText {
  readonly finalUrl: string;
  readonly status: number;
  readonly text: string;
  /** Content type of the answer without its parameters; empty when it named none. */
  readonly contentType: string;
}

export type FetchFailure =
  | 'UNSUPPORTED_URL'
  | 'EGRESS_REFUSED'
  | 'TOO_MANY_REDIRECTS'
  | 'BAD_STATUS'
  | 'TOO_LARGE'
  | 'NOT_TEXT'
  | 'TIMEOUT'
  | 'NETWORK';

/** Failure to fetch a text. The message names the last URL requested and its answer. */
export class FetchError extends Error {
  constructor(
    readonly code: FetchFailure,
    message: string,
    readonly finalUrl: string,
    /** Status of the last answer; undefined when there was none. */
    readonly status: number | undefined,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'FetchError';
  }
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Fetches a UTF-8 text file over http(s) (docs/reference/rest-api.md#component-url-fetch). Pages of a file on GitHub,
 * GitLab and gist are read as the raw file. Every redirect is checked again. Throws FetchError.
 */
export const fetchText = async (url: string, limits: FetchLimits): Promise<FetchedText> => {
  const { timeoutMs = 10_000, signal } = limits;
  const aborter = new AbortController();
  const stop = (): void => aborter.abort();
  const walk: Walk = { current: rawFileUrl(parseUrl(url)), status: undefined };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    // undici observes an abort only once it has a connection, and a look-up or a full pool may delay that.
    return await withDeadline(follow(walk, aborter.signal, limits), timeoutMs, () => {
      const text = `${walk.current.href} did not answer in full within ${timeoutMs} ms`;
      return new FetchError('TIMEOUT', text, walk.current.href, walk.status);
    });
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
};

/** State of a fetch. */
interface Walk {
  current: URL;
  /** Status of the answer of `current`, once there is one. */
  status: number | undefined;
}

const follow = async (walk: Walk, signal: AbortSignal, limits: FetchLimits): Promise<FetchedText> => {
  const { maxRedirects = 3 } = limits;
  for (let redirects = 0; ; redirects++) {
    const { current } = walk;
    walk.status = undefined;
    const answer = await ask(walk, signal, limits);
    if (answer.location === undefined) {
      const { status, text, contentType } = answer;
      return { finalUrl: current.href, status, text, contentType };
    }
    if (redirects >= maxRedirects) {
      const message = `${current.href} redirects again (${answer.status}) after ${maxRedirects} redirects, the limit`;
      throw new FetchError('TOO_MANY_REDIRECTS', message, current.href, answer.status);
    }
    walk.current = rawFileUrl(parseUrl(answer.location, current));
  }
};

const parseUrl = (text: string, base?: URL): URL => {
  const url = urlIn(text, base);
  if (!url) {
    const told = text.slice(0, 200);
    const message = `${JSON.stringify(told)} is not a URL of at most ${MAX_URL_CHARS} characters`;
    throw new FetchError('UNSUPPORTED_URL', message, told, undefined);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const message = `${url.protocol} URLs are not fetched: give an http: or https: URL (got ${text})`;
    throw new FetchError('UNSUPPORTED_URL', message, text, undefined);
  }
  if (url.username !== '' || url.password !== '') {
    const message = `the URL for ${url.host} holds a user name or password: give one without`;
    throw new FetchError('UNSUPPORTED_URL', message, `${url.origin}${url.pathname}`, undefined);
  }
  url.hash = '';
  return url;
};

/** Returns the URL of the raw file behind the page of a file, and any other URL unchanged. */
export const rawFileUrl = (url: URL): URL => {
  const github = /^\/([^/]+)\/([^/]+)\/blob\/(.+)$/.exec(url.pathname);
  if (/^(www\.)?github\.com$/.test(url.hostname) && github !== null) {
    return new URL(`https://raw.githubusercontent.com/${github[1]}/${github[2]}/${github[3]}`);
  }
  const gist = /^\/([^/]+)\/([0-9a-f]{20,})(?:\/([0-9a-f]{40}))?\/?$/.exec(url.pathname);
  if (url.hostname === 'gist.github.com' && gist !== null) {
    const revision = gist[3] === undefined ? '' : `/${gist[3]}`;
    return new URL(`https://gist.githubusercontent.com/${gist[1]}/${gist[2]}/raw${revision}`);
  }
  if (url.pathname.includes('/-/blob/')) {
    return new URL(url.pathname.replace('/-/blob/', '/-/raw/'), url.origin);
  }
  return url;
};

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
  readonly location?: string;
}

const ask = async (walk: Walk, signal: AbortSignal, limits: FetchLimits): Promise<Answer> => {
  const url = walk.current;
  const { maxBytes = 1024 * 1024, timeoutMs = 10_000 } = limits;
  let status: number | undefined;
  try {
    const response = await request(url, {
      dispatcher: limits.dispatcher,
      signal,
      headers: { accept: 'text/plain, */*;q=0.5', 'user-agent': 'Sluice' },
    });
    status = response.statusCode;
    walk.status = status;
    const location = response.headers.location;
    if (REDIRECTS.includes(status) && typeof location === 'string') {
      await response.body.dump({ limit: 16_384 });
      return { status, text: '', contentType: '', location };
    }
    if (status < 200 || status > 299) {
      await response.body.dump({ limit: 16_384 });
      throw new FetchError('BAD_STATUS', `${url.href} answered ${status}, expected 200`, url.href, status);
    }
    const contentType = String(response.headers['content-type'] ?? '')
      .split(';', 1)[0]
      ?.trim()
      .toLowerCase();
    return { status, text: await readText(response.body, maxBytes, url, status), contentType: contentType ?? '' };
  } catch (error) {
    throw asFetchError(error, url, status, timeoutMs);
  }
};

const readText = async (
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
  url: URL,
  status: number,
): Promise<string> => {
  const bytes = await readLimited(body as AsyncIterable<Buffer>, maxBytes);
  if (bytes === undefined) {
    const message = `${url.href} is larger than the limit of ${maxBytes} bytes`;
    throw new FetchError('TOO_LARGE', message, url.href, status);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new FetchError('NOT_TEXT', `${url.href} is not UTF-8 text`, url.href, status, error);
  }
};

const asFetchError = (error: unknown, url: URL, status: number | undefined, timeoutMs: number): FetchError => {
  if (error instanceof FetchError) return error;
  if (error instanceof EgressRefused) return new FetchError('EGRESS_REFUSED', error.message, url.href, status, error);
  const { name, message, code } = error as Error & { code?: string };
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    const text = `${url.href} did not answer in full within ${timeoutMs} ms`;
    return new FetchError('TIMEOUT', text, url.href, status, error);
  }
  return new FetchError(
    'NETWORK',
    `${url.href} could not be fetched: ${message || code || name}`,
    url.href,
    status,
    error,
  );
};
