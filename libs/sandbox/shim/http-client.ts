import { Readable } from 'node:stream';

/** Request in the form of axios, sent with Node's fetch (docs/reference/component-model.md#shim-axios-config). */
export interface RequestConfig {
  url?: string;
  baseURL?: string;
  method?: string;
  headers?: Record<string, unknown>;
  params?: Record<string, unknown> | URLSearchParams;
  paramsSerializer?:
    ((params: Record<string, unknown>) => string) | { serialize?: (params: Record<string, unknown>) => string };
  data?: unknown;
  auth?: { username?: string; password?: string };
  timeout?: number;
  maxRedirects?: number;
  responseType?: 'json' | 'text' | 'arraybuffer' | 'stream' | 'blob';
  validateStatus?: ((status: number) => boolean) | null;
  signal?: AbortSignal;
  returnFullResponse?: boolean;
  debug?: boolean;
  body?: unknown;
}

export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Record<string, string | string[]>;
  readonly data: unknown;
  readonly config: RequestConfig;
}

export class HttpError extends Error {
  readonly isAxiosError = true;
  code: string;
  status?: number;
  response?: HttpResponse;

  constructor(message: string, code: string, response?: HttpResponse, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'AxiosError';
    this.code = code;
    if (response) {
      this.response = response;
      this.status = response.status;
    }
  }
}

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
};

/** Serializes `params`. Keys without a value are left out, and a list repeats its key with brackets. */
const queryOf = (config: RequestConfig): string => {
  const { params, paramsSerializer } = config;
  if (params === undefined || params === null) return '';
  if (params instanceof URLSearchParams) return params.toString();
  const serialize = typeof paramsSerializer === 'function' ? paramsSerializer : paramsSerializer?.serialize;
  if (serialize) return serialize(params);
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value === undefined || value === null) continue;
    if (Array.isArray(value)) value.forEach((item) => query.append(`${key}[]`, textOf(item)));
    else query.append(key, textOf(value));
  }
  return query.toString();
};

const urlOf = (config: RequestConfig): string => {
  const { url = '', baseURL } = config;
  const whole =
    baseURL === undefined || /^[a-z][a-z0-9+.-]*:\/\//i.test(url)
      ? url
      : url === ''
        ? baseURL
        : `${baseURL.replace(/\/+$/, '')}/${url.replace(/^\/+/, '')}`;
  const query = queryOf(config);
  if (query === '') return whole;
  const [address = '', hash] = whole.split('#', 2);
  return `${address}${address.includes('?') ? '&' : '?'}${query}${hash === undefined ? '' : `#${hash}`}`;
};

const headersOf = (config: RequestConfig): Headers => {
  const headers = new Headers({ accept: 'application/json, text/plain, */*' });
  for (const [name, value] of Object.entries(config.headers ?? {}))
    if (value !== undefined && value !== null && value !== false) headers.set(name, textOf(value));
  if (config.auth)
    headers.set(
      'authorization',
      `Basic ${Buffer.from(`${config.auth.username ?? ''}:${config.auth.password ?? ''}`).toString('base64')}`,
    );
  return headers;
};

type Body = NonNullable<RequestInit['body']>;

const isPlain = (data: unknown): data is string | URLSearchParams | FormData | ArrayBuffer | Blob =>
  typeof data === 'string' ||
  data instanceof URLSearchParams ||
  data instanceof FormData ||
  data instanceof ArrayBuffer ||
  data instanceof Blob;

/** Encodes the body. Objects become JSON, or a form when the content type says so. */
const bodyOf = (data: unknown, headers: Headers): Body | undefined => {
  if (data === undefined || data === null) return undefined;
  const type = headers.get('content-type') ?? '';
  if (isPlain(data)) {
    if (typeof data === 'string' && type === '') headers.set('content-type', 'application/x-www-form-urlencoded');
    return data;
  }
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  if (data instanceof Readable || typeof (data as { getBoundary?: unknown }).getBoundary === 'function') {
    // The form-data package provides its boundary in its own headers.
    const own = (data as { getHeaders?: () => Record<string, string> }).getHeaders?.() ?? {};
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return Readable.toWeb(data instanceof Readable ? data : Readable.from(data as AsyncIterable<unknown>)) as Body;
  }
  if (type.includes('application/x-www-form-urlencoded'))
    return new URLSearchParams(Object.entries(data).map(([key, value]): [string, string] => [key, textOf(value)]));
  if (type === '') headers.set('content-type', 'application/json');
  return JSON.stringify(data);
};

const plainHeaders = (headers: Headers): Record<string, string | string[]> => {
  const out: Record<string, string | string[]> = Object.fromEntries(headers.entries());
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) out['set-cookie'] = cookies;
  return out;
};

const dataOf = async (response: Response, config: RequestConfig): Promise<unknown> => {
  switch (config.responseType) {
    case 'arraybuffer':
      return Buffer.from(await response.arrayBuffer());
    case 'stream':
      return response.body ? Readable.fromWeb(response.body) : Readable.from([]);
    case 'blob':
      return response.blob();
    case 'text':
      return response.text();
    case 'json':
    case undefined: {
      const text = await response.text();
      try {
        return text === '' ? text : JSON.parse(text);
      } catch {
        // The text is not JSON, so the data is the text itself.
        return text;
      }
    }
  }
};

/** Sends a request. Rejects with HttpError without a response, or when `validateStatus` (default 2xx) refuses it. */
export const request = async (config: RequestConfig): Promise<HttpResponse> => {
  const headers = headersOf(config);
  const body = bodyOf(config.data, headers);
  const method = (config.method ?? 'get').toUpperCase();
  const signals = [config.signal, config.timeout ? AbortSignal.timeout(config.timeout) : undefined].filter(
    (signal) => signal !== undefined,
  );
  let response: Response;
  try {
    response = await fetch(urlOf(config), {
      method,
      headers,
      redirect: config.maxRedirects === 0 ? 'manual' : 'follow',
      ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body, duplex: 'half' }),
      ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
    });
  } catch (error) {
    throw noAnswer(error, config);
  }
  const { status, statusText } = response;
  const answer = {
    status,
    statusText,
    headers: plainHeaders(response.headers),
    data: await dataOf(response, config),
    config,
  };
  const isFine =
    config.validateStatus === undefined ? (code: number) => code >= 200 && code < 300 : config.validateStatus;
  if (isFine === null || isFine(status)) return answer;
  throw new HttpError(
    `Request failed with status code ${status}`,
    status >= 500 ? 'ERR_BAD_RESPONSE' : 'ERR_BAD_REQUEST',
    answer,
  );
};

const noAnswer = (error: unknown, config: RequestConfig): HttpError => {
  const { name, cause } = error as { name?: unknown; cause?: unknown };
  if (name === 'TimeoutError')
    return new HttpError(`timeout of ${config.timeout ?? 0}ms exceeded`, 'ECONNABORTED', undefined, error);
  if (name === 'AbortError') return new HttpError('canceled', 'ERR_CANCELED', undefined, error);
  // fetch hides the cause behind "fetch failed".
  const { code, message } = (cause ?? error) as { code?: unknown; message?: unknown };
  return new HttpError(
    typeof message === 'string' ? message : String(error),
    typeof code === 'string' ? code : 'ERR_NETWORK',
    undefined,
    error,
  );
};
