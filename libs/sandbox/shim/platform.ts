/** Replaces `@pipedream/platform` inside the jail (docs/reference/component-model.md#shim-exports). */
import { type Readable } from 'node:stream';
import { HttpClient, isAxiosError, type HttpResponse, type RequestConfig } from './http-client.js';

export { getFileStream, getFileStreamAndMetadata } from './files.js';
export { cloneSafe, jsonStringifySafe } from './safe-json.js';
export { defineAction, defineApp, defineComponent, defineSource } from './types.js';

export const DEFAULT_POLLING_SOURCE_TIMER_INTERVAL = 900;
export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** Error in the user's configuration. */
export class ConfigurationError extends Error {
  constructor(
    message: string,
    readonly exposeStack = false,
  ) {
    super(message);
    this.name = 'ConfigurationError';
  }
}

interface Exporter {
  export?: unknown;
  $export?: unknown;
}

type ExportValue = (name: string, value: unknown) => void;

/** Export function of `$`, a component or an app, if it has one. */
const exporterOf = (context: unknown): ExportValue | undefined => {
  if (typeof context !== 'object' || context === null) return undefined;
  const { export: own, $export } = context as Exporter;
  const found = typeof own === 'function' ? own : $export;
  return typeof found === 'function' ? (found as ExportValue).bind(context) : undefined;
};

const withoutUndefined = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
};

/** Moves the URL's query to `params`, where explicit params win, and drops keys that are undefined. */
const clean = (config: RequestConfig): RequestConfig => {
  if (config.body !== undefined)
    throw new Error('axios: unexpected field "body", use "data" for the content of a request');
  const out: RequestConfig = { ...config };
  for (const key of ['headers', 'params', 'data'] as const)
    if (out[key] !== undefined) Object.assign(out, { [key]: withoutUndefined(out[key]) });
  const at = out.url?.indexOf('?') ?? -1;
  if (out.url !== undefined && at >= 0 && !(out.params instanceof URLSearchParams)) {
    const params: Record<string, unknown> = {};
    for (const [key, value] of new URLSearchParams(out.url.slice(at + 1).replace(/#.*$/, ''))) {
      const name = key.replace(/\[\]$/, '');
      const before = params[name];
      params[name] = before === undefined ? value : [before, value].flat();
    }
    out.url = out.url.slice(0, at);
    out.params = { ...params, ...(out.params as object | undefined) };
  }
  return out;
};

interface Summary {
  readonly status: number;
  readonly statusText: string;
  readonly headers: unknown;
  readonly data: unknown;
}

/** Part of a response that callers may read, without request and config, which hold secrets and sockets. */
const summaryOf = ({ status, statusText, headers, data }: HttpResponse): Summary => ({
  status,
  statusText,
  headers: { ...headers },
  data,
});

const isStream = (data: unknown): data is Readable =>
  typeof data === 'object' && data !== null && typeof (data as { pipe?: unknown }).pipe === 'function';

/** The exportable form of a summary. A stream has no JSON. */
const exportable = (summary: Summary): object => (isStream(summary.data) ? { ...summary, data: undefined } : summary);

const explain = (error: unknown, exported: ExportValue | undefined): unknown => {
  if (!isAxiosError(error)) return error;
  for (const key of ['config', 'request']) Reflect.deleteProperty(error, key);
  if (!error.response) return error;
  const summary = summaryOf(error.response);
  exported?.('debug', exportable(summary));
  Reflect.set(error, 'response', summary);
  if (isStream(summary.data)) return error;
  try {
    error.message = JSON.stringify(summary.data) ?? error.message;
  } catch {
    // An interceptor made the data cyclic, so the existing message stays.
  }
  return error;
};

/** Hides secrets, and values without JSON, from logs and copies of a response. */
const withHidden = (response: HttpResponse): HttpResponse => {
  for (const key of ['config', 'request']) Object.defineProperty(response, key, { enumerable: false });
  return response;
};

export interface Axios {
  (context: unknown, config: RequestConfig, signConfig?: unknown): Promise<unknown>;
  create(defaults?: RequestConfig): Axios;
  readonly interceptors: HttpClient['interceptors'];
  readonly isAxiosError: typeof isAxiosError;
}

const make = (defaults: RequestConfig): Axios => {
  const client = new HttpClient(defaults);
  const send = async (context: unknown, given: RequestConfig, signConfig?: unknown): Promise<unknown> => {
    if (signConfig !== undefined && signConfig !== null)
      throw new Error('axios: signing with OAuth 1 (third argument) is not supported');
    const exported = exporterOf(context);
    const config = clean(given);
    const { debug, returnFullResponse } = { ...defaults, ...config };
    if (debug) exported?.('debug_config', { ...defaults, ...config });
    try {
      const response = await client.request(config);
      if (debug) exported?.('debug_response', exportable(summaryOf(response)));
      return returnFullResponse ? withHidden(response) : response.data;
    } catch (error) {
      throw explain(error, exported);
    }
  };
  return Object.assign(send, {
    create: (more: RequestConfig = {}): Axios => make(clean({ ...defaults, ...more })),
    interceptors: client.interceptors,
    isAxiosError,
  });
};

/** Sends a request with axios. Resolves with the response body and rejects for any status but 2xx. */
export const axios = /* @__PURE__ */ make({});

export const transformConfigForOauth = (config: RequestConfig): { method: string; url: string; params: unknown } => {
  const cleaned = clean(config);
  const { method = 'get', url = '' } = cleaned;
  return { method: method.toLowerCase(), url, params: (cleaned.params as unknown) ?? {} };
};

const unsupported = (name: string) => (): never => {
  throw new Error(`${name} is not supported`);
};

export const sqlProp = { methods: { executeQuery: unsupported('sqlProp') } };
export const sqlProxy = { methods: { proxyAdapter: unsupported('sqlProxy') } };

/** Ends the code of a step early. */
export const $end = (message = ''): never => {
  throw Object.assign(new Error(message), { name: '$end' });
};

export default { axios, ConfigurationError, DEFAULT_POLLING_SOURCE_TIMER_INTERVAL, HTTP_METHODS };
