import { MAX_NESTING, nestsTooDeep } from '#libs/framing/json-text.js';
import { TEXT_LIMITS } from '../protocol/protocol.js';
import { isFraming, isHeaderName, isHeaderValue, sizeOfHeader } from '../protocol/reply-headers.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { isStream } from './reply-stream.js';

export interface RespondInput {
  readonly status?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly immediate?: unknown;
}

export interface ReadReply {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  /** Names of the given headers that belong to the connection and are not sent. */
  readonly dropped: readonly string[];
  readonly body: string;
  readonly base64: boolean;
  readonly immediate: boolean;
}

/** Argument of `respond` (docs/reference/component-model.md#respond-fields). Throws naming the invalid field. */
export const readReply = (input: RespondInput = {}): ReadReply => {
  const { headers, dropped } = readHeaders(input.headers);
  const { body, base64, type } = readBody(input.body);
  if (type !== null && !Object.keys(headers).some((name) => name.toLowerCase() === 'content-type'))
    headers['content-type'] = type;
  return { status: readStatus(input.status), headers, dropped, body, base64, immediate: input.immediate === true };
};

/** Checks a reply that nobody gets. A stream is not read. */
export const checkedReply = (input?: RespondInput): ReadReply =>
  readReply(isStream(input?.body) ? { ...input, body: undefined } : input);

const readStatus = (status: unknown): number => {
  if (status === undefined || status === null) return 200;
  const number = typeof status === 'string' && /^\s*\d+\s*$/.test(status) ? Number(status) : status;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 100 && number <= 599) return number;
  throw new Error(`respond: status must be an integer from 100 to 599, not ${JSON.stringify(status) ?? typeof status}`);
};

type ReadHeaders = Pick<ReadReply, 'headers' | 'dropped'>;

const readHeaders = (input: unknown): ReadHeaders => {
  if (input === undefined || input === null) return { headers: {}, dropped: [] };
  if (typeof input !== 'object') throw new Error(`respond: headers must be an object, not ${typeof input}`);
  const given: [string, unknown][] =
    typeof Headers === 'function' && input instanceof Headers ? [...input.entries()] : Object.entries(input);
  if (given.length > TEXT_LIMITS.headers)
    throw new Error(`respond: at most ${TEXT_LIMITS.headers} headers are allowed, there are ${given.length}`);
  const headers = new Map<string, [string, string | string[]]>();
  const dropped: string[] = [];
  let total = 0;
  for (const [name, value] of given) {
    if (value === undefined || value === null) continue;
    if (isFraming(name)) {
      dropped.push(name);
      continue;
    }
    const lowerCase = headerName(name);
    const text = Array.isArray(value) ? value.map((part) => headerText(name, part)) : headerText(name, value);
    total += sizeOfHeader(name, text);
    // `Headers` yields each cookie under the same name. Of two spellings of one name, one value would be lost.
    const before = headers.get(lowerCase);
    if (before && before[0] !== name)
      throw new Error(`respond: headers ${before[0]} and ${name} are the same: give one, with an array of values`);
    headers.set(lowerCase, [name, before ? [before[1], text].flat() : text]);
  }
  if (total > TEXT_LIMITS.headerTotal)
    throw new Error(`respond: headers may have ${TEXT_LIMITS.headerTotal} characters in all, these have ${total}`);
  return { headers: Object.fromEntries(headers.values()), dropped };
};

/** Header name in lower case. Throws for an invalid name. */
const headerName = (name: string): string => {
  if (!isHeaderName(name)) throw new Error(`respond: ${JSON.stringify(name.slice(0, 300))} cannot be a header name`);
  return name.toLowerCase();
};

const headerText = (name: string, value: unknown): string => {
  const text = String(value);
  if (text.length > TEXT_LIMITS.headerValue)
    throw new Error(
      `respond: the value of header ${name} has ${text.length} characters, at most ${TEXT_LIMITS.headerValue} are allowed`,
    );
  if (isHeaderValue(text)) return text;
  throw new Error(
    `respond: the value of header ${name} has a line break, a control character or one beyond Latin-1: encode it, with encodeURIComponent for example`,
  );
};

const readBody = (body: unknown): { body: string; base64: boolean; type: string | null } => {
  if (body === undefined || body === null) return { body: '', base64: false, type: null };
  if (typeof body === 'string') return { body, base64: false, type: 'text/plain; charset=utf-8' };
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) {
    const bytes =
      body instanceof ArrayBuffer ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    return { body: bytes.toString('base64'), base64: true, type: 'application/octet-stream' };
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(body);
  } catch (error) {
    throw new Error(`respond: body cannot be written as JSON: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (json === undefined) throw new Error(`respond: a body of type ${typeof body} cannot be sent`);
  if (nestsTooDeep(json)) throw new Error(`respond: the body nests more than ${MAX_NESTING} levels deep: flatten it`);
  return { body: json, base64: false, type: 'application/json; charset=utf-8' };
};
