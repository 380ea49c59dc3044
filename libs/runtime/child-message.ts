/** Validation of what a child says. A child runs other people's code: every message from it is hostile input. */
import {
  ProtocolBreach,
  TEXT_LIMITS,
  isReplyHeaders,
  type ChildMessage,
  type ErrorText,
  type RawRecord,
} from './protocol.js';

const MAX_JSON_BYTES = 512 * 1024;
export const MAX_NESTING = 256;
const CONSOLE_KIND = /^console\.[a-z]{1,20}$/;

const fail = (what: string): never => {
  throw new ProtocolBreach(`a child sent ${what}`);
};

const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.length <= max;
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown): value is 0 | 1 => value === 0 || value === 1;

const isError = (value: unknown): value is ErrorText => {
  if (typeof value !== 'object' || value === null) return false;
  const error = value as Record<string, unknown>;
  return (
    isText(error.name, TEXT_LIMITS.name) &&
    isText(error.message, TEXT_LIMITS.message) &&
    isText(error.stack, TEXT_LIMITS.stack) &&
    isText(error.code, TEXT_LIMITS.name)
  );
};

/** True when the text is JSON that nests no deeper than 256 (decisions.md 1.12). */
export const isPlainJson = (text: string): boolean => {
  if (nestsTooDeep(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** True beyond 256 levels; cheap for all but the most bracketed texts. */
export const nestsTooDeep = (text: string): boolean => {
  if (text.length <= MAX_NESTING) return false;
  // Brackets within strings count too: an upper bound, refined only when it is exceeded.
  let opened = 0;
  for (let at = text.indexOf('['); at >= 0 && opened <= MAX_NESTING; at = text.indexOf('[', at + 1)) opened++;
  for (let at = text.indexOf('{'); at >= 0 && opened <= MAX_NESTING; at = text.indexOf('{', at + 1)) opened++;
  return opened > MAX_NESTING && depthOf(text) > MAX_NESTING;
};

/** Deepest nesting of a JSON text; stops counting beyond the limit. */
export const depthOf = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === 92) i++;
      else if (c === 34) inString = false;
    } else if (c === 34) inString = true;
    else if (c === 91 || c === 123) {
      if (++depth > deepest) deepest = depth;
      if (deepest > MAX_NESTING) return deepest;
    } else if (c === 93 || c === 125) depth--;
  }
  return deepest;
};

const checks: Record<ChildMessage[0], (m: readonly unknown[], rawBytes: number) => boolean> = {
  ready: (m, raw) => m.length === 1 && raw === 0,
  loadfail: (m, raw) => m.length === 2 && isError(m[1]) && raw === 0,
  meta: (m) => m.length === 1,
  invalid: (m, raw) =>
    m.length === 3 &&
    isText(m[1], TEXT_LIMITS.message) &&
    (m[2] === null || isText(m[2], TEXT_LIMITS.name)) &&
    raw === 0,
  s: (m, raw) => m.length === 3 && isNumber(m[1]) && isTime(m[2]) && raw === 0,
  e: (m) =>
    m.length === 6 &&
    isNumber(m[1]) &&
    isText(m[2], TEXT_LIMITS.channel) &&
    (m[3] === null || isText(m[3], TEXT_LIMITS.emitId) || isTime(m[3])) &&
    (m[4] === null || isText(m[4], TEXT_LIMITS.summary)) &&
    (m[5] === null || isTime(m[5])),
  l: (m) => m.length === 4 && isNumber(m[1]) && isText(m[2], 32) && CONSOLE_KIND.test(m[2]) && isTime(m[3]),
  b: (m, raw) =>
    m.length === 4 && isNumber(m[1]) && isText(m[2], TEXT_LIMITS.dbKey) && isFlag(m[3]) && (m[3] === 0 || raw === 0),
  r: (m) =>
    m.length === 6 &&
    isNumber(m[1]) &&
    isNumber(m[2]) &&
    m[2] >= 100 &&
    m[2] <= 599 &&
    isReplyHeaders(m[3]) &&
    isFlag(m[4]) &&
    isFlag(m[5]),
  x: (m, raw) => m.length === 3 && isNumber(m[1]) && isTime(m[2]) && raw === 0,
  d: (m, raw) => m.length === 4 && isNumber(m[1]) && isTime(m[2]) && (m[3] === null || isError(m[3])) && raw === 0,
};

const isMessage = (kind: ChildMessage[0], message: readonly unknown[], rawBytes: number): message is ChildMessage =>
  checks[kind](message, rawBytes);

/** The message of a record. Throws ProtocolBreach when it is not exactly one that a child may send. */
export const parseChildMessage = (record: RawRecord): ChildMessage => {
  if (record.json.length > MAX_JSON_BYTES) fail(`a message head of ${record.json.length} bytes`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(record.json.toString('utf8'));
  } catch {
    fail('a message that is no JSON');
  }
  if (!Array.isArray(parsed)) return fail('a message that is no array');
  const message: readonly unknown[] = parsed;
  const tag = message[0];
  if (typeof tag !== 'string' || !Object.hasOwn(checks, tag)) return fail('a message of an unknown kind');
  const kind = tag as ChildMessage[0];
  return isMessage(kind, message, record.raw.length) ? message : fail(`a malformed message of kind "${kind}"`);
};
