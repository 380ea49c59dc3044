/** Rules for the headers that a component may send with `respond`. Child and host apply the same rules. */
import { TEXT_LIMITS } from './protocol.js';

export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Headers of the connection and of message framing, which only the server sets. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** HTTP/1.1 carries printable Latin-1 characters and the tab. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export const isFraming = (name: string): boolean => FRAMING.has(name.toLowerCase());
export const isHeaderName = (name: string): boolean => HEADER_NAME.test(name);
export const isHeaderValue = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= TEXT_LIMITS.headerValue && HEADER_VALUE.test(value);

/** Length of the name and its values. Every value of a repeated header counts. */
export const sizeOfHeader = (name: string, value: string | readonly string[]): number => {
  const values = typeof value === 'string' ? [value] : value;
  return values.reduce((sum, text) => sum + name.length + text.length, name.length);
};

/** True when an HTTP server can send these headers unchanged, and none of them affects the connection. */
export const isReplyHeaders = (value: unknown): value is ReplyHeaders => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = new Set<string>();
  let size = 0;
  for (const [name, text] of Object.entries(value) as [string, unknown][]) {
    if (!isHeaderName(name) || isFraming(name)) return false;
    if (!isHeaderValue(text) && !isHeaderValues(text)) return false;
    names.add(name.toLowerCase());
    size += sizeOfHeader(name, text);
  }
  const count = Object.keys(value).length;
  return names.size === count && count <= TEXT_LIMITS.headers && size <= TEXT_LIMITS.headerTotal;
};

const isHeaderValues = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= TEXT_LIMITS.headers && value.every(isHeaderValue);
