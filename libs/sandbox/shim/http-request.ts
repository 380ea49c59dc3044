/** Sends the request of a prop of type http_request. A jailed child loads this module with the first `execute()`. */
import { type ConfiguredRequest, type RequestPair } from '../../component-model/http-request.js';
import { type HttpResponse, type RequestConfig } from './http-client.js';
import { axios } from './platform.js';

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

const pairsOf = (pairs: readonly RequestPair[] | null | undefined): [string, string][] =>
  (Array.isArray(pairs) ? (pairs as readonly RequestPair[]) : [])
    .filter(({ name }) => typeof name === 'string' && name !== '')
    .map(({ name, value }) => [name, value === undefined || value === null ? '' : String(value)]);

const headersOf = (pairs: readonly (readonly [string, string])[]): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) {
    const known = Object.keys(headers).find((key) => key.toLowerCase() === name.toLowerCase());
    headers[known ?? name] = known === undefined ? value : `${headers[known] ?? ''}, ${value}`;
  }
  return headers;
};

const has = (headers: Readonly<Record<string, string>>, name: string): boolean =>
  Object.keys(headers).some((key) => key.toLowerCase() === name);

const modeOf = (body: NonNullable<ConfiguredRequest['body']>): 'none' | 'fields' | 'raw' =>
  body.mode ?? body.type ?? (body.raw ? 'raw' : pairsOf(body.fields).length > 0 ? 'fields' : 'none');

/** The body with its content type; a multipart body gets its type, with the boundary, from axios. */
const contentOf = (body: ConfiguredRequest['body']): { readonly data?: unknown; readonly type?: string } => {
  if (!body) return {};
  const { contentType } = body;
  switch (modeOf(body)) {
    case 'none':
      return {};
    case 'raw':
      return { data: body.raw ?? '', type: contentType || 'text/plain' };
    case 'fields': {
      const fields = pairsOf(body.fields);
      if (contentType?.startsWith(FORM)) return { data: new URLSearchParams(fields).toString(), type: contentType };
      if (contentType?.startsWith(MULTIPART)) {
        const form = new FormData();
        for (const [name, value] of fields) form.append(name, value);
        return { data: form };
      }
      return { data: JSON.stringify(Object.fromEntries(fields)), type: contentType || 'application/json' };
    }
  }
};

/** What axios gets for the configured request. */
export const configOf = ({ method, url, params, headers: given, auth, body }: ConfiguredRequest): RequestConfig => {
  const headers = headersOf(pairsOf(given));
  const { data, type } = contentOf(body);
  if (type !== undefined && !has(headers, 'content-type')) headers['Content-Type'] = type;
  if (auth?.type === 'bearer' && !has(headers, 'authorization')) headers.Authorization = `Bearer ${auth.token ?? ''}`;
  return {
    method: method || 'GET',
    url,
    headers,
    // An instance keeps repeated names, and leaves the query of the URL in its place.
    params: new URLSearchParams(pairsOf(params)),
    ...(auth?.type === 'basic' ? { auth: { username: auth.username ?? '', password: auth.password ?? '' } } : {}),
    // The text is sent as it is, even when its type says JSON.
    ...(typeof data === 'string' ? { data, transformRequest: [(text: unknown) => text] } : {}),
    ...(data !== undefined && typeof data !== 'string' ? { data } : {}),
    returnFullResponse: true,
  };
};

/**
 * Sends the request. Resolves with the body; `data`, `status` and `headers` are on it too when it is an object or a list,
 * without showing up in its JSON. Rejects like the platform's axios (docs/reference/component-model.md#http-request).
 */
export const send = async (request: ConfiguredRequest): Promise<unknown> => {
  const { data, status, headers } = (await axios(undefined, configOf(request))) as HttpResponse;
  if (typeof data !== 'object' || data === null) return data;
  for (const [name, value] of Object.entries({ data, status, headers: { ...headers } }))
    if (!Object.hasOwn(data, name)) Object.defineProperty(data, name, { value, configurable: true, writable: true });
  return data;
};
