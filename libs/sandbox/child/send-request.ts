/** Makes the request of a `$.send.http`. */
import { isPlain } from './plain-object.js';
import { type Fields } from './send-calls.js';

/** A value as the text of a header or of a part of the query. */
const plainText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

export const methodOf = ({ method, data }: Fields): string =>
  typeof method === 'string' ? method : data === undefined || data === null ? 'GET' : 'POST';

export const withParams = (url: URL, params: unknown): string => {
  for (const [name, value] of Object.entries((params ?? {}) as Fields))
    for (const one of [value].flat())
      if (one !== undefined && one !== null) url.searchParams.append(name, plainText(one));
  url.username = '';
  url.password = '';
  return url.href;
};

export interface Outgoing {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

export const requestOf = (fields: Fields): Outgoing => {
  const { data, auth } = fields;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries((fields['headers'] ?? {}) as Fields))
    if (value !== undefined && value !== null) headers[name.toLowerCase()] = plainText(value);
  const { username, password } = (auth ?? {}) as Fields;
  if (auth)
    headers['authorization'] ??= `Basic ${Buffer.from(`${String(username)}:${String(password)}`).toString('base64')}`;
  const method = methodOf(fields);
  if (data === undefined || data === null || method === 'GET' || method === 'HEAD') return { method, headers };
  const isJson = Array.isArray(data) || (typeof data === 'object' && isPlain(data)) || typeof data !== 'string';
  headers['content-type'] ??= isJson ? 'application/json' : 'text/plain';
  return { method, headers, body: isJson ? JSON.stringify(data) : data };
};
