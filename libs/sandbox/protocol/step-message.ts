/** Messages that only the call of a step sends. Child and host apply the same rules. */
import {
  MAX_PREFIX_BYTES,
  MAX_RERUNS,
  MAX_WAIT_MS,
  PLATFORM_EXPORTS,
  RETURN_VALUE,
  SUMMARY,
} from '#libs/component-model/step-run.js';
import { TEXT_LIMITS } from './protocol.js';
import { isFraming, isHeaderName, isHeaderValue, sizeOfHeader } from './reply-headers.js';
import { isTime, keyFault } from './run-names.js';

/** A message of `$.send` without its large texts, whose lengths in bytes it has. They follow as the raw part. */
export type SendHead =
  | {
      readonly kind: 'http';
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Null for no body. */
      readonly body: number | null;
      readonly retry: boolean;
    }
  | { readonly kind: 'email'; readonly subject: string; readonly text: number | null; readonly html: number | null }
  | { readonly kind: 'emit' }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'sse'; readonly channel: string };

export const SEND_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Characters of an address, and of each other field of a message that is no content. */
const MAX_URL = 65_536;
const MAX_FIELD = 1_024;
const MAX_REASON = TEXT_LIMITS.summary;

/** Control characters would end a line of a mail's head, or of a stream. */
const isField = (value: unknown, least = 1): boolean =>
  typeof value === 'string' &&
  value.length >= least &&
  value.length <= MAX_FIELD &&
  value.isWellFormed() &&
  !/[\u0000-\u001f\u007f]/.test(value);

/**
 * Whether a value is the prefix of an object's key: parts between slashes, with one slash at the end or none. Empty
 * parts, `.` and `..` are refused, because some storages and tools take them for folders.
 */
export const isKeyPrefix = (value: unknown): boolean => {
  if (value === '') return true;
  if (!isField(value) || Buffer.byteLength(value as string) > MAX_PREFIX_BYTES) return false;
  const parts = (value as string).replace(/\/$/, '').split('/');
  return parts.every((part) => part !== '' && part !== '.' && part !== '..');
};

const isSendUrl = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= MAX_URL && /^https?:/i.test(value) && URL.canParse(value);

const isSendHeaders = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value) as [string, unknown][];
  let size = 0;
  for (const [name, text] of entries) {
    if (!isHeaderName(name) || isFraming(name) || !isHeaderValue(text) || name !== name.toLowerCase()) return false;
    size += sizeOfHeader(name, text);
  }
  return entries.length <= TEXT_LIMITS.headers && size <= TEXT_LIMITS.headerTotal;
};

const isLength = (value: unknown): boolean => value === null || (Number.isSafeInteger(value) && (value as number) >= 0);

/** Checks of the fields of each kind, which are all that its head may have. */
const FIELDS: Readonly<Record<SendHead['kind'], Readonly<Record<string, (value: unknown) => boolean>>>> = {
  http: {
    method: (value) => SEND_METHODS.some((method) => method === value),
    url: isSendUrl,
    headers: isSendHeaders,
    body: isLength,
    retry: (value) => typeof value === 'boolean',
  },
  email: { subject: (value) => isField(value, 0), text: isLength, html: isLength },
  emit: {},
  s3: { bucket: isField, prefix: isKeyPrefix },
  sse: { channel: isField },
};

/** First field of a message's head that is wrong, or undefined. */
export const wrongField = (kind: SendHead['kind'], head: Readonly<Record<string, unknown>>): string | undefined =>
  Object.entries(FIELDS[kind]).find(([field, check]) => !check(head[field]))?.[0];

const isSendHead = (value: unknown): value is SendHead => {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, ...head } = value as Record<string, unknown>;
  if (typeof kind !== 'string' || !Object.hasOwn(FIELDS, kind)) return false;
  const known = kind as SendHead['kind'];
  return Object.keys(head).every((key) => Object.hasOwn(FIELDS[known], key)) && wrongField(known, head) === undefined;
};

/** Whether the texts that the head announces are as long as the raw part. JSON texts are the whole part. */
const fits = (head: SendHead, rawBytes: number): boolean => {
  if (head.kind === 'http') return (head.body ?? 0) === rawBytes;
  if (head.kind === 'email') return (head.text ?? 0) + (head.html ?? 0) === rawBytes;
  return rawBytes > 0;
};

/** Fault in the name of an export, or undefined. */
export const exportFault = (name: string): string | undefined => {
  if (PLATFORM_EXPORTS.has(name) && name !== SUMMARY)
    return `${name} is given by the platform: choose another name, or return the value`;
  const fault = keyFault(name);
  return fault === undefined ? undefined : `a name is not allowed: ${fault}`;
};

const isExportName = (name: unknown): boolean =>
  typeof name === 'string' &&
  name !== '' &&
  name.length <= TEXT_LIMITS.name &&
  (name === RETURN_VALUE || exportFault(name) === undefined);

export const isWaitMs = (value: unknown): value is number =>
  typeof value === 'number' && value >= 1 && value <= MAX_WAIT_MS;
export const isRerunCount = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_RERUNS;

/** Whether a value has the form of a workflow's id, or of `ext:` and an external id. */
export const isWorkflowName = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:p_[0-9a-z]{1,40}|ext:[A-Za-z0-9._/-]{1,200})$/.test(value);

const isRunNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const isFlow = ([, , kind, ms, maxRetries]: readonly unknown[], rawBytes: number): boolean => {
  switch (kind) {
    case 'exit':
      // In UTF-8, a UTF-16 unit has three bytes at most.
      return ms === 0 && maxRetries === 0 && rawBytes <= 3 * MAX_REASON;
    case 'delay':
    case 'suspend':
      return isWaitMs(ms) && maxRetries === 0 && rawBytes === 0;
    case 'rerun':
      return isWaitMs(ms) && isRerunCount(maxRetries);
    default:
      return false;
  }
};

type Check = (message: readonly unknown[], rawBytes: number) => boolean;

/** Forms of the messages. The JSON of raw parts is checked where it is read. */
export const STEP_MESSAGES: Readonly<Record<'o' | 'f' | 'm' | 't' | 'w', Check>> = {
  o: (m, raw) => m.length === 3 && isRunNumber(m[1]) && isExportName(m[2]) && raw > 0,
  f: (m, raw) => m.length === 5 && isRunNumber(m[1]) && isFlow(m, raw),
  m: (m, raw) => m.length === 3 && isRunNumber(m[1]) && isSendHead(m[2]) && fits(m[2], raw),
  t: (m, raw) => m.length === 4 && isRunNumber(m[1]) && isRunNumber(m[2]) && isWorkflowName(m[3]) && raw > 0,
  w: (m, raw) => m.length === 3 && isRunNumber(m[1]) && isTime(m[2]) && raw === 0,
};

/** Shortens the reason of an exit. */
export const reasonText = (reason: string): string => reason.slice(0, MAX_REASON).toWellFormed();
