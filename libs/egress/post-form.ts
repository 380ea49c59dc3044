import { request, type Dispatcher } from 'undici';
import { withDeadline } from '#libs/async/deadline.js';
import { readLimited } from '#libs/async/read-limited.js';
import { EgressRefused } from './address-policy.js';

export interface PostFormLimits {
  /** Guarded dispatcher of createEgress. It follows no redirect. */
  readonly dispatcher: Dispatcher;
  readonly maxBytes: number;
  /** Time limit for the whole exchange, with the look-up of the name and the wait for a connection. */
  readonly timeoutMs: number;
}

/** The form got no complete answer. The message names the host but nothing of the form. */
export class PostFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PostFailed';
  }
}

/** Posts a form and reads the answer as text. Throws PostFailed. */
export const postForm = async (
  url: string,
  { headers, form }: { readonly headers: Readonly<Record<string, string>>; readonly form: URLSearchParams },
  limits: PostFormLimits,
): Promise<{ readonly status: number; readonly text: string }> => {
  const { host } = new URL(url);
  const aborter = new AbortController();
  const late = (): Error => new PostFailed(`${host} did not answer in full within ${limits.timeoutMs} ms`);
  try {
    // undici observes an abort only once it has a connection.
    return await withDeadline(exchange(url, { headers, form }, limits, aborter.signal), limits.timeoutMs, late);
  } catch (error) {
    if (error instanceof PostFailed) throw error;
    if (error instanceof EgressRefused) throw new PostFailed(error.message);
    const { name, code } = error as Error & { code?: string };
    if (code === 'UND_ERR_CONNECT_TIMEOUT') throw late();
    throw new PostFailed(`${host} could not be reached: ${code ?? name}`);
  } finally {
    aborter.abort();
  }
};

const exchange = async (
  url: string,
  { headers, form }: { readonly headers: Readonly<Record<string, string>>; readonly form: URLSearchParams },
  { dispatcher, maxBytes }: PostFormLimits,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> => {
  const { statusCode, body } = await request(url, {
    method: 'POST',
    dispatcher,
    signal,
    headers: {
      ...headers,
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Sluice',
    },
    body: form.toString(),
  });
  const bytes = await readLimited(body as AsyncIterable<Buffer>, maxBytes);
  if (bytes === undefined) throw new PostFailed(`${new URL(url).host} answered with more than ${maxBytes} bytes`);
  return { status: statusCode, text: bytes.toString('utf8') };
};
