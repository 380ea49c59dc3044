import { isHeaderName, isHeaderValue, TEXT_LIMITS } from '../protocol.js';

export interface RespondInput {
  readonly status?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly immediate?: unknown;
}

export interface ReadReply {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: string;
  readonly base64: boolean;
  readonly immediate: boolean;
}

/** What `respond` was given (decisions.md 2.11). Throws naming the field that cannot be sent. */
export const readReply = (input: RespondInput = {}): ReadReply => {
  const headers = readHeaders(input.headers);
  const { body, base64, type } = readBody(input.body);
  if (type !== null && !Object.keys(headers).some((name) => name.toLowerCase() === 'content-type'))
    headers['content-type'] = type;
  return { status: readStatus(input.status), headers, body, base64, immediate: input.immediate === true };
};

const readStatus = (status: unknown): number => {
  if (status === undefined || status === null) return 200;
  const number = typeof status === 'string' && /^\s*\d+\s*$/.test(status) ? Number(status) : status;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 100 && number <= 599) return number;
  throw new Error(`respond: status must be an integer from 100 to 599, not ${JSON.stringify(status) ?? typeof status}`);
};

const readHeaders = (input: unknown): Record<string, string | string[]> => {
  const headers: Record<string, string | string[]> = {};
  if (input === undefined || input === null) return headers;
  if (typeof input !== 'object') throw new Error(`respond: headers must be an object, not ${typeof input}`);
  const entries: [string, unknown][] =
    typeof Headers === 'function' && input instanceof Headers ? [...input.entries()] : Object.entries(input);
  if (entries.length > TEXT_LIMITS.headers)
    throw new Error(`respond: at most ${TEXT_LIMITS.headers} headers are allowed, there are ${entries.length}`);
  let total = 0;
  for (const [name, value] of entries) {
    if (value === undefined || value === null) continue;
    if (!isHeaderName(name)) throw new Error(`respond: ${JSON.stringify(name)} cannot be a header name`);
    headers[name] = Array.isArray(value) ? value.map((part) => headerText(name, part)) : headerText(name, value);
    total += name.length + [headers[name]].flat().join('').length;
  }
  if (total > TEXT_LIMITS.headerTotal)
    throw new Error(`respond: headers may have ${TEXT_LIMITS.headerTotal} characters in all, these have ${total}`);
  return headers;
};

const headerText = (name: string, value: unknown): string => {
  const text = String(value);
  if (isHeaderValue(text)) return text;
  throw new Error(
    `respond: the value of header ${name} has a line break or control character, or more than ${TEXT_LIMITS.headerValue} characters`,
  );
};

const readBody = (body: unknown): { body: string; base64: boolean; type: string | null } => {
  if (body === undefined || body === null) return { body: '', base64: false, type: null };
  if (typeof body === 'string') return { body, base64: false, type: 'text/plain; charset=utf-8' };
  if (body instanceof Uint8Array) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    return { body: bytes.toString('base64'), base64: true, type: 'application/octet-stream' };
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(body);
  } catch (error) {
    throw new Error(
      `respond: body cannot be written as JSON: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
  if (json === undefined) throw new Error(`respond: a body of type ${typeof body} cannot be sent`);
  return { body: json, base64: false, type: 'application/json; charset=utf-8' };
};
