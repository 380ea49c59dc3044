import { request, type Dispatcher } from 'undici';
import { EgressRefused } from './address-policy.js';

export interface PostFormLimits {
  /** Guarded dispatcher of createEgress. It follows no redirect. */
  readonly dispatcher: Dispatcher;
  readonly maxBytes: number;
  /** Time limit for the whole exchange. */
  readonly timeoutMs: number;
}

/** The form got no complete answer. The message names the host and never what was sent. */
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
  { dispatcher, maxBytes, timeoutMs }: PostFormLimits,
): Promise<{ readonly status: number; readonly text: string }> => {
  const { host } = new URL(url);
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...headers,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'Sluice',
      },
      body: form.toString(),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    // Leaving the loop destroys the body and its connection.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new PostFailed(`${host} answered with more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return { status: statusCode, text: Buffer.concat(chunks).toString('utf8') };
  } catch (error) {
    if (error instanceof PostFailed) throw error;
    if (error instanceof EgressRefused) throw new PostFailed(error.message);
    const { name, code } = error as Error & { code?: string };
    if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT')
      throw new PostFailed(`${host} did not answer in full within ${timeoutMs} ms`);
    throw new PostFailed(`${host} could not be reached: ${code ?? name}`);
  }
};
