/** Validates messages of a child. A child runs untrusted code, so every message is hostile input. */
import { wellFormedJson } from '#libs/kernel/well-formed.js';
import { isLateKind, LATE_DETAIL_BYTES } from './late-work.js';
import { ERROR_LIMITS, TEXT_LIMITS, type ChildMessage, type ErrorText } from './protocol.js';
import { ProtocolBreach, textOf, type RawRecord } from '#libs/framing/records.js';
import { STEP_MESSAGES } from './step-message.js';
import { isStoreCall } from './store-call.js';
import { isReplyHeaders } from './reply-headers.js';
import { channelFault, isTime, keyFault } from './run-names.js';

const MAX_JSON_BYTES = 512 * 1024;
const LOG_KIND = /^(?:console\.[a-z]{1,20}|flow\.[a-z]{1,20}|send\.http|warning)$/;

const fail = (what: string): never => {
  throw new ProtocolBreach(`a child sent ${what}`);
};

const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.length <= max;
const isFinite = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isKey = (value: unknown, max: number): value is string => isText(value, max) && keyFault(value) === undefined;
const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown): value is 0 | 1 => value === 0 || value === 1;

const ERROR_KEYS = new Set(['name', 'message', 'stack', 'code', 'cause', 'errors', 'place']);
const MAX_PLACE = 1_000;

const isPlace = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 3) return false;
  const { file, line, column } = value as Record<string, unknown>;
  return isText(file, MAX_PLACE) && isNumber(line) && isNumber(column);
};

/** Remaining room for texts and parts of one error. */
interface ErrorRoom {
  chars: number;
  count: number;
}

/** Refuses unknown keys too, because the rest of the server trusts the depth of a checked message. */
const isPart = (value: unknown, room: ErrorRoom, depth: number): value is ErrorText => {
  if (typeof value !== 'object' || value === null || depth > ERROR_LIMITS.depth || room.count-- <= 0) return false;
  const { name, message, stack, code, cause, errors, place } = value as Record<string, unknown>;
  if (!Object.keys(value).every((key) => ERROR_KEYS.has(key))) return false;
  if (!isText(name, TEXT_LIMITS.name) || !isText(code, TEXT_LIMITS.name)) return false;
  if (!isText(message, TEXT_LIMITS.message) || !isText(stack, TEXT_LIMITS.stack)) return false;
  room.chars -= name.length + code.length + message.length + stack.length;
  if (room.chars < 0 || (place !== undefined && (depth > 0 || !isPlace(place)))) return false;
  if (cause !== undefined && !isPart(cause, room, depth + 1)) return false;
  if (errors === undefined) return true;
  const isList = Array.isArray(errors) && errors.length <= ERROR_LIMITS.errors;
  return isList && errors.every((each) => isPart(each, room, depth + 1));
};

const isError = (value: unknown): value is ErrorText =>
  isPart(value, { chars: ERROR_LIMITS.chars, count: ERROR_LIMITS.count + 1 }, 0);

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
  g: (m, raw) => m.length === 1 && raw === 0,
  e: (m) =>
    (m.length === 6 || (m.length === 7 && isTime(m[6]))) &&
    isNumber(m[1]) &&
    isText(m[2], TEXT_LIMITS.channel) &&
    (m[2] === '' || channelFault(m[2]) === undefined) &&
    (m[3] === null || isKey(m[3], TEXT_LIMITS.emitId) || isFinite(m[3])) &&
    (m[4] === null || isText(m[4], TEXT_LIMITS.summary)) &&
    (m[5] === null || isTime(m[5])),
  l: (m) => m.length === 4 && isNumber(m[1]) && isText(m[2], 32) && LOG_KIND.test(m[2]) && isTime(m[3]),
  b: (m, raw) =>
    m.length === 4 && isNumber(m[1]) && isKey(m[2], TEXT_LIMITS.dbKey) && isFlag(m[3]) && (m[3] === 0 || raw === 0),
  r: (m) =>
    m.length === 6 &&
    isNumber(m[1]) &&
    isNumber(m[2]) &&
    m[2] >= 100 &&
    m[2] <= 599 &&
    isReplyHeaders(m[3]) &&
    isFlag(m[4]) &&
    isFlag(m[5]),
  v: (m) => m.length === 2 && isNumber(m[1]),
  p: (m, raw) => m.length === 4 && isNumber(m[1]) && isLateKind(m[2]) && isTime(m[3]) && raw <= LATE_DETAIL_BYTES,
  q: (m, raw) => isStoreCall(m, raw),
  ...STEP_MESSAGES,
  x: (m, raw) => m.length === 3 && isNumber(m[1]) && isFinite(m[2]) && raw === 0,
  d: (m, raw) =>
    (m.length === 4 || (m.length === 5 && m[4] === 1)) &&
    isNumber(m[1]) &&
    isTime(m[2]) &&
    (m[3] === null || isError(m[3])) &&
    raw === 0,
};

const isMessage = (kind: ChildMessage[0], message: readonly unknown[], rawBytes: number): message is ChildMessage =>
  checks[kind](message, rawBytes);

/** Matches a JSON escape of a surrogate. It also matches whole pairs, which is harmless. */
const MAY_BE_ILL_FORMED = /\\u[dD][89a-fA-F]/;

/**
 * Parses the message of a record and makes every text in it well-formed. Throws ProtocolBreach for anything but a valid
 * message of a child.
 */
export const parseChildMessage = (record: RawRecord): ChildMessage => {
  if (record.json.length > MAX_JSON_BYTES) fail(`a message head of ${record.json.length} bytes`);
  let parsed: unknown;
  const head = textOf(record.json);
  try {
    parsed = JSON.parse(head);
  } catch {
    fail('a message that is no JSON');
  }
  if (!Array.isArray(parsed)) return fail('a message that is no array');
  const message: readonly unknown[] = parsed;
  const tag = message[0];
  if (typeof tag !== 'string' || !Object.hasOwn(checks, tag)) return fail('a message of an unknown kind');
  const kind = tag as ChildMessage[0];
  if (!isMessage(kind, message, record.raw.length)) return fail(`a malformed message of kind "${kind}"`);
  // Must follow the check. A checked message nests a few levels only, but an unchecked one could exhaust the stack.
  return MAY_BE_ILL_FORMED.test(head) ? (wellFormedJson(message) as ChildMessage) : message;
};
