import { setImmediate as turn } from 'node:timers/promises';
import { parse as parseQuery } from 'node:querystring';
import { bodyHeader } from '#libs/component-model/http-event.js';
import { countFields } from '#libs/http/form-fields.js';
import { shapeOf } from '#libs/http/json-shape.js';
import { charsetOf, formDecoder, textOf } from './charset.js';
import { MAX_FIELDS } from './field-limit.js';
import { JsonCheck } from './json-check.js';
import { multipartFields } from './multipart.js';
import { RefusedRequest } from './refused-request.js';

/** A request to an endpoint. `headers` have lower-case keys. */
export interface EndpointRequest {
  readonly method: string;
  /** Path below the endpoint; starts with `/`. */
  readonly path: string;
  /** Query string without `?`. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly clientIp: string;
  readonly url: string;
}

/** JSON nested deeper than this is refused. */
export const MAX_NESTING = 256;

/** Characters checked in one turn of the event loop. Texts up to `SHORT` are parsed at once. */
const CHARACTERS_A_TURN = 64 * 1024;
const SHORT = 8 * 1024;
/** Characters quoted in one turn. An event with a body up to this size is far below EVENT_BYTES even with `bodyRaw`. */
const QUOTED_A_TURN = 16 * CHARACTERS_A_TURN;

/** JSON text of an event. */
export interface EndpointEvent {
  readonly text: string;
  /** Place of the body, if the text contains it once (component-model/http-event.ts). */
  readonly bodyAt: string | undefined;
}

/**
 * Builds the JSON text of the event that `run` receives. A JSON body is checked and spliced in as the text that
 * arrived, without serializing it again. Blocks the event loop for one turn at most, whatever the body. Throws
 * RefusedRequest.
 * @param bodyOnce whether the text may contain a JSON body once
 */
export const endpointEvent = async (request: EndpointRequest, bodyOnce: boolean): Promise<EndpointEvent> => {
  const query = JSON.stringify(fieldsOf(request.query, 'the query'));
  const { bodyRaw, body, isBase64, isOnce } = await bodyOf(request, bodyOnce);
  const head =
    `{"method":${JSON.stringify(request.method)},"path":${JSON.stringify(request.path)},` +
    `"query":${query},"headers":${JSON.stringify(request.headers)},"bodyRaw":${bodyRaw},"body":`;
  const tail =
    `,"client_ip":${JSON.stringify(request.clientIp)},` +
    `"url":${JSON.stringify(request.url)}${isBase64 ? ',"isBase64Encoded":true' : ''}}`;
  return { text: head + body + tail, bodyAt: isOnce ? bodyHeader(head, body) : undefined };
};

/** `bodyRaw` and `body` as JSON texts. */
interface ParsedBody {
  readonly bodyRaw: string;
  readonly body: string;
  readonly isBase64?: boolean;
  /** `bodyRaw` is empty, because its text is that of `body`. */
  readonly isOnce?: boolean;
}

const BYTE_ORDER_MARK = '\ufeff';

const bodyOf = async ({ headers, body: bytes }: EndpointRequest, bodyOnce: boolean): Promise<ParsedBody> => {
  if (bytes.length === 0) return { bodyRaw: '""', body: '{}' };
  const contentType = headers['content-type'] ?? '';
  const type = (contentType.split(';', 1)[0] as string).trim().toLowerCase();
  const isMultipart = type.startsWith('multipart/');
  const charset = isMultipart ? undefined : charsetOf(contentType);
  const raw = await textOf(bytes, charset);
  if (isMultipart || raw === undefined) {
    // A body that is not text is kept whole, as base64.
    const isBase64 = raw === undefined;
    const bodyRaw = await quoted(isBase64 ? bytes.toString('base64') : raw);
    const fields = isMultipart ? await multipartFields(contentType, bytes) : undefined;
    return { bodyRaw, body: fields === undefined ? bodyRaw : JSON.stringify(fields), isBase64 };
  }
  // Signatures cover the bytes with the byte order mark, which is not part of the JSON.
  const isMarked = raw.startsWith(BYTE_ORDER_MARK);
  const text = isMarked ? raw.slice(1) : raw;
  if (type === 'application/x-www-form-urlencoded' && !/^\s*[{[]/.test(text)) {
    // `curl -d '{…}'` sends JSON under this type without meaning a form.
    const decode = charset === undefined || isMarked ? undefined : formDecoder(charset);
    const fields = fieldsOf(decode ? bytes.toString('latin1') : text, 'the body', decode);
    return { bodyRaw: await quoted(raw), body: JSON.stringify(fields) };
  }
  if (type !== 'application/x-www-form-urlencoded' && looksLikeJson(type, text) && (await isJson(text))) {
    const isOnce = bodyOnce && !isMarked && text.length <= QUOTED_A_TURN;
    return { bodyRaw: isOnce ? '""' : await quoted(raw), body: text, isOnce };
  }
  const bodyRaw = await quoted(raw);
  return { bodyRaw, body: isMarked ? await quoted(text) : bodyRaw };
};

const looksLikeJson = (type: string, text: string): boolean =>
  type === 'application/json' || type.endsWith('+json') || /^\s*[{[]/.test(text);

/** Throws RefusedRequest for JSON that is nested too deep. */
const isJson = async (text: string): Promise<boolean> => {
  const { valid, depth } = text.length <= SHORT ? parsed(text) : await checked(text);
  if (valid && depth > MAX_NESTING) {
    const why = `JSON body is nested ${depth} levels deep, the limit is ${MAX_NESTING}: flatten it`;
    throw new RefusedRequest('invalid_json', why);
  }
  return valid;
};

interface Verdict {
  readonly valid: boolean;
  readonly depth: number;
}

const parsed = (text: string): Verdict => {
  try {
    JSON.parse(text);
  } catch {
    return { valid: false, depth: 0 };
  }
  return { valid: true, depth: mayNestTooDeep(text) ? shapeOf(text).depth : 0 };
};

/** Counts brackets, which is cheap and rules out most bodies. */
const mayNestTooDeep = (json: string): boolean => {
  let open = 0;
  for (const bracket of ['{', '[']) {
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1)) {
      if (++open > MAX_NESTING) return true;
    }
  }
  return false;
};

const checked = async (text: string): Promise<Verdict> => {
  const check = new JsonCheck(text);
  for (;;) {
    const valid = check.read(CHARACTERS_A_TURN);
    if (valid !== undefined) return { valid, depth: check.depth };
    await turn();
  }
};

/** Quotes a text as JSON.stringify does, a part of it in each turn. */
const quoted = async (text: string): Promise<string> => {
  if (text.length <= QUOTED_A_TURN) return JSON.stringify(text);
  let json = '"';
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = at + QUOTED_A_TURN;
    // Keeps a surrogate pair together.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end++;
    json += JSON.stringify(text.slice(at, end)).slice(1, -1);
    await turn();
  }
  return `${json}"`;
};

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/**
 * Parses the fields of a query or a form; repeated keys become an array. Throws RefusedRequest for too many fields.
 * @param decode undoes the escapes of a name or value, which are UTF-8 by default
 */
const fieldsOf = (
  text: string,
  where: string,
  decode?: (part: string) => string,
): Record<string, string | string[] | undefined> => {
  const count = countFields(text);
  if (count > MAX_FIELDS)
    throw new RefusedRequest('too_many_fields', `${where} has ${count} fields, the limit is ${MAX_FIELDS}`);
  return parseQuery(text, '&', '=', decode ? { maxKeys: 0, decodeURIComponent: decode } : { maxKeys: 0 });
};
