import { request, type Dispatcher } from 'undici';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly bytes: Buffer;
}

export interface HttpOptions {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON, text and bytes unchanged. */
  readonly body?: unknown;
}

/** Calls an endpoint: POST by default, one connection per call. */
export const send = async (url: string, options: HttpOptions = {}): Promise<HttpAnswer> => {
  const { method = 'POST', headers = {}, body } = options;
  const raw = typeof body === 'string' || Buffer.isBuffer(body);
  const reply = await request(url, {
    method,
    reset: true,
    headersTimeout: 120_000,
    headers: { ...(body === undefined || raw ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await reply.body.arrayBuffer());
  return { status: reply.statusCode, headers: reply.headers, text: bytes.toString('utf8'), bytes };
};

export const jsonOf = (answer: HttpAnswer): unknown => JSON.parse(answer.text) as unknown;
