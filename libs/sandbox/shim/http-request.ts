/** Sends the request of a prop of type http_request. A jailed child loads this module with the first `execute()`. */
import { type ConfiguredRequest } from '#libs/component-model/http-request.js';
import { type HttpResponse, type RequestConfig } from './http-client.js';
import { axios } from './platform.js';

/**
 * The request after changes by the component: each field as the form writes it, or in a form of axios or fetch
 * (docs/reference/component-model.md#http-request-changed).
 */
export interface ChangedRequest {
  readonly method?: unknown;
  readonly url?: unknown;
  readonly params?: unknown;
  readonly headers?: unknown;
  readonly auth?: unknown;
  readonly body?: unknown;
}

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

type Fields = Readonly<Record<string, unknown>>;
type Pair = readonly [name: string, value: unknown];

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const isIndex = (key: string): boolean => /^\d+$/.test(key);

const hasEntries = (value: object): value is { entries(): Iterable<Pair> } =>
  value instanceof URLSearchParams || value instanceof Headers || value instanceof Map || value instanceof FormData;

/** Pairs of a list of `{ name, value }` or `[name, value]`, of an object by name, of a Map, Headers or URLSearchParams. */
const pairsIn = (given: unknown): Pair[] => {
  if (typeof given === 'string') return [...new URLSearchParams(given)];
  if (!isObject(given)) return [];
  const named = (entries: Iterable<Pair>): Pair[] =>
    [...entries]
      .filter(([, value]) => value !== undefined && value !== null)
      .flatMap(([name, value]) =>
        Array.isArray(value) ? value.map((one): Pair => [name, one]) : [[name, value] as Pair],
      );
  if (hasEntries(given)) return named(given.entries());
  if (!Array.isArray(given)) return named(Object.entries(given));
  const listed = (given as unknown[]).flatMap((one): Pair[] => {
    if (Array.isArray(one)) return [[String(one[0]), one[1]]];
    return isObject(one) && typeof one['name'] === 'string' ? [[one['name'], one['value']]] : [];
  });
  // `headers['X-Name'] = …` on the list of the form.
  const beside = named(Object.entries(given as unknown as Fields).filter(([key]) => !isIndex(key)));
  return [...listed.filter(([name]) => name !== ''), ...beside];
};

const shown = (value: unknown): string => String(value);

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString();
  return isObject(value) && !(value instanceof URL) ? JSON.stringify(value) : shown(value);
};

const pairsOf = (given: unknown): [string, string][] => pairsIn(given).map(([name, value]) => [name, textOf(value)]);

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

type FormBody = NonNullable<ConfiguredRequest['body']>;

const BODY_FIELDS: readonly string[] = ['type', 'mode', 'contentType', 'fields', 'raw'];

/** Whether an object that the component made is a body as the form writes it. Any other object is sent as JSON. */
const isFormBody = (body: object): body is FormBody => {
  const { mode, type } = body as Fields;
  const keys = Object.keys(body);
  const isKnown = keys.length > 0 && keys.every((key) => BODY_FIELDS.includes(key));
  switch (mode ?? type) {
    case 'raw':
      return 'raw' in body;
    case 'fields':
      return 'fields' in body;
    case 'none':
      return isKnown;
    case undefined:
    case null:
      return isKnown && ('raw' in body || 'fields' in body);
    default:
      return false;
  }
};

const modeOf = (body: FormBody): 'none' | 'fields' | 'raw' => {
  const mode = body.mode ?? body.type;
  if (mode === 'none' || mode === 'fields' || mode === 'raw') return mode;
  return body.raw ? 'raw' : pairsOf(body.fields).length > 0 ? 'fields' : 'none';
};

interface Content {
  readonly data?: unknown;
  readonly type?: string;
}

const json = (value: unknown): Content => ({ data: JSON.stringify(value), type: 'application/json' });

/** A body by its value: a text as it is, bytes, forms and streams as axios sends them, anything else as JSON. */
const contentOfValue = (value: unknown): Content => {
  if (value === undefined || value === null) return {};
  if (typeof value === 'string') return { data: value, type: 'text/plain' };
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return { data: value, type: 'application/octet-stream' };
  if (value instanceof URLSearchParams) return { data: value.toString(), type: FORM };
  if (value instanceof FormData || value instanceof Blob) return { data: value };
  const isStream = isObject(value) && typeof (value as { pipe?: unknown }).pipe === 'function';
  return isStream ? { data: value } : json(value);
};

/** The body with its content type; a multipart body gets its type, with the boundary, from axios. */
const contentOfForm = (body: FormBody): Content => {
  const { contentType } = body;
  switch (modeOf(body)) {
    case 'none':
      return {};
    case 'raw': {
      const { data = '', type = 'text/plain' } = contentOfValue(body.raw);
      return { data, type: contentType || type };
    }
    case 'fields': {
      const fields = pairsOf(body.fields);
      if (contentType?.startsWith(FORM)) return { data: new URLSearchParams(fields).toString(), type: contentType };
      if (contentType?.startsWith(MULTIPART)) {
        const form = new FormData();
        for (const [name, value] of fields) form.append(name, value);
        return { data: form };
      }
      const values = pairsIn(body.fields).map(([name, value]) => [name, isObject(value) ? value : textOf(value)]);
      return { data: JSON.stringify(Object.fromEntries(values)), type: contentType || 'application/json' };
    }
  }
};

interface ReadAuth {
  readonly basic?: { readonly username: string; readonly password: string };
  readonly bearer?: string;
}

/** Without a type, the present fields decide. */
const authOf = (auth: unknown): ReadAuth => {
  if (!isObject(auth)) return {};
  const { type, username, password, token } = auth;
  const kind = type ?? (token ? 'bearer' : username || password ? 'basic' : 'none');
  if (kind === 'bearer') return { bearer: `Bearer ${textOf(token)}` };
  return kind === 'basic' ? { basic: { username: textOf(username), password: textOf(password) } } : {};
};

const urlOf = (url: unknown): string => {
  if ((typeof url === 'string' && url.trim() !== '') || url instanceof URL) return String(url);
  throw new TypeError(`http_request: url must be a text or URL, not ${url === '' ? 'empty' : typeof url}`);
};

/**
 * Configuration of axios for the request.
 * @param isForm whether the body is the object of the configured value, changed in place or not.
 */
export const configOf = (request: ChangedRequest, isForm = true): RequestConfig => {
  const { method, url, params, headers: given, body } = request;
  const headers = headersOf(pairsOf(given));
  const isFormObject = isObject(body) && !Array.isArray(body) && (isForm || isFormBody(body));
  const { data, type } = isFormObject ? contentOfForm(body) : contentOfValue(body);
  if (type !== undefined && !has(headers, 'content-type')) headers['Content-Type'] = type;
  const { basic, bearer } = has(headers, 'authorization') ? {} : authOf(request.auth);
  if (bearer !== undefined) headers['Authorization'] = bearer;
  return {
    method: method ? textOf(method) : 'GET',
    url: urlOf(url),
    headers,
    // An instance keeps repeated names, and leaves the query of the URL in its place.
    params: new URLSearchParams(pairsOf(params)),
    ...(basic === undefined ? {} : { auth: basic }),
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
export const send = async (request: ChangedRequest, isForm = true): Promise<unknown> => {
  const { data, status, headers } = (await axios(undefined, configOf(request, isForm))) as HttpResponse;
  if (typeof data !== 'object' || data === null) return data;
  for (const [name, value] of Object.entries({ data, status, headers: { ...headers } }))
    if (!Object.hasOwn(data, name)) Object.defineProperty(data, name, { value, configurable: true, writable: true });
  return data;
};
