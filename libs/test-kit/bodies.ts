import { isUtf8 } from 'node:buffer';
import { type AnsweredRequest, type HeaderPairs, type SentRequest } from '#libs/sandbox/index.js';
import { type Reply, type Request } from './published.js';

/** Headers by lower-case name. Those that occur several times are joined, as `fetch` does. */
export const headersOf = (pairs: HeaderPairs): Readonly<Record<string, string>> =>
  Object.fromEntries(new Headers(pairs.map(([name, value]): [string, string] => [name, value])));

/** The value of a JSON body, else the text; base64 for what is no text. */
export const valueOf = (body: Buffer, contentType: string): unknown => {
  const text = body.toString(isUtf8(body) ? 'utf8' : 'base64');
  if (!/[/+]json\b/i.test(contentType)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

export const requestOf = ({ method, url, headers, body }: SentRequest): Request => {
  const named = headersOf(headers);
  return { method, url, headers: named, body: valueOf(Buffer.from(body, 'base64'), named['content-type'] ?? '') };
};

/** A body as it is sent, and the type that a value of it has. */
export const sentBody = (body: unknown): { readonly bytes: Buffer; readonly type: string | undefined } => {
  if (body === undefined) return { bytes: Buffer.alloc(0), type: undefined };
  if (typeof body === 'string') return { bytes: Buffer.from(body), type: undefined };
  if (body instanceof Uint8Array) return { bytes: Buffer.from(body), type: undefined };
  return { bytes: Buffer.from(JSON.stringify(body) ?? 'null'), type: 'application/json' };
};

export const answerOf = ({ status = 200, headers = {}, body }: Reply): AnsweredRequest => {
  const { bytes, type } = sentBody(body);
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((each): [string, string] => [name, each]),
  );
  const isTyped = pairs.some(([name]) => name.toLowerCase() === 'content-type');
  if (type !== undefined && !isTyped) pairs.push(['content-type', type]);
  return { status, headers: pairs, body: bytes.toString('base64') };
};
