import { DomainError } from '#libs/kernel/domain-error.js';
import { type ErrorCode } from '#libs/kernel/error-codes.js';
import { MAX_URL_CHARS } from '#libs/kernel/url-text.js';
import { type JsonSchema } from './json-schema.js';

/** Characters of a text whose parameter names no limit of its own (docs/reference/limits.md#parameter-texts). */
export const MAX_TEXT = 1_024;
/** Texts of a parameter that is given several times, and elements of a list. */
export const MAX_ITEMS = 1_000;
/** Characters of a parameter in the path. A component's key is the longest. */
export const MAX_PATH_TEXT = 8_192;
/** Characters of a header that a route reads. */
export const MAX_HEADER_TEXT = 4_096;

/** More than a body holds. Code has a limit of its own (docs/reference/limits.md#code-size). */
const MAX_CODE = 4_096 * 1_024;

interface TextLimit {
  readonly max: number;
  /** Code of the refusal, where a parameter has its own. */
  readonly code?: ErrorCode;
}

/** Limits of parameters that no class describes, or whose refusal has a code of its own. */
const TEXTS: Readonly<Record<string, TextLimit>> = {
  include: { max: 4_096 },
  exclude: { max: 4_096 },
  after: { max: 400, code: 'request.invalid_cursor' },
  before: { max: 400, code: 'request.invalid_cursor' },
  filter: { max: 16_384, code: 'subscription.invalid_filter' },
  document: { max: MAX_CODE },
  component_code: { max: MAX_CODE, code: 'component.too_large' },
  url: { max: MAX_URL_CHARS, code: 'webhook.invalid_url' },
};

/** Limits of an object with any keys. */
interface MapLimit {
  readonly keys: number;
  /** Characters of a key, and of a value that is a text. */
  readonly key: number;
  readonly value: number;
}

const MAP: MapLimit = { keys: 1_000, key: 1_024, value: 64 * 1_024 };
/** JSON that a component reads: what fits into a body. */
const ANY_JSON: MapLimit = { keys: 25_000, key: 64 * 1_024, value: 8 * 1024 * 1024 };
const MAPS: Readonly<Record<string, MapLimit>> = {
  configured_props: { ...MAP, value: 1024 * 1024 },
  files: { ...MAP, value: MAX_CODE },
  document: { ...ANY_JSON, value: MAX_CODE },
  event: ANY_JSON,
  payload: ANY_JSON,
  prev_context: ANY_JSON,
  value: ANY_JSON,
};

/** Adds limits to the texts, lists and objects of a schema that names none. */
export const limited = (name: string, schema: JsonSchema): JsonSchema => {
  if (schema.type === 'array') {
    const { items = {}, maxItems = MAX_ITEMS } = schema;
    return { ...schema, maxItems, items: limited(name, items) };
  }
  if (schema.type === 'object') {
    const { keys, key, value } = MAPS[name] ?? MAP;
    const limits = {
      maxProperties: keys,
      propertyNames: { maxLength: key },
      additionalProperties: { maxLength: value },
    };
    return { ...schema, ...limits };
  }
  const isText = schema.type === 'string' || (schema.type === undefined && schema.enum === undefined);
  return isText ? { ...schema, maxLength: schema.maxLength ?? TEXTS[name]?.max ?? MAX_TEXT } : schema;
};

/**
 * Refuses a value beyond the limits of its description, as `limited` made it, before anything reads it. A query and a form
 * hold every value as text, and may hold it several times.
 */
export const checkLimits = (name: string, schema: JsonSchema, value: unknown): void => {
  if (typeof value === 'string') {
    const max = schema.maxLength ?? (schema.type === 'object' ? ANY_JSON.value : MAX_TEXT);
    if (value.length > max) throw tooLong(name, max, value.length);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) checkList(name, schema, value);
  else if (schema.type === 'object') checkMap(name, schema, value);
};

const checkList = (name: string, schema: JsonSchema, list: readonly unknown[]): void => {
  // Any JSON may be a list. The size of the body bounds its elements.
  if (schema.type === 'object') return;
  const most = schema.maxItems ?? MAX_ITEMS;
  if (list.length > most)
    throw beyond(name, `must have at most ${most} elements; got ${list.length}`, most, list.length);
  let chars = 0;
  for (const each of list) {
    checkLimits(name, schema.items ?? schema, each);
    if (schema.type !== 'array' && typeof each === 'string') chars += each.length;
  }
  const max = schema.maxLength ?? MAX_TEXT;
  if (chars > max) throw tooLong(name, max, chars);
};

const checkMap = (name: string, schema: JsonSchema, map: object): void => {
  const entries = Object.entries(map);
  const { maxProperties = MAP.keys, propertyNames, additionalProperties } = schema;
  if (entries.length > maxProperties) {
    const fault = `must have at most ${maxProperties} keys; got ${entries.length}`;
    throw beyond(name, fault, maxProperties, entries.length);
  }
  const mostOfKey = propertyNames?.maxLength ?? MAP.key;
  const mostOfValue = typeof additionalProperties === 'object' ? additionalProperties.maxLength : undefined;
  for (const [key, value] of entries) {
    if (key.length > mostOfKey) throw tooLong(`${name}: the key ${key.slice(0, 100)}…`, mostOfKey, key.length, name);
    if (typeof value === 'string' && value.length > (mostOfValue ?? MAP.value))
      throw tooLong(`${name}.${key.slice(0, 100)}`, mostOfValue ?? MAP.value, value.length);
  }
};

export const tooLong = (name: string, limit: number, actual: number, field = name): DomainError =>
  beyond(name, `must be shorter than or equal to ${limit} characters; got ${actual}`, limit, actual, field);

const beyond = (name: string, fault: string, limit: number, actual: number, field = name): DomainError =>
  new DomainError(TEXTS[name]?.code ?? 'request.invalid_parameter', `parameter ${name} ${fault}`, {
    field,
    limit,
    actual,
  });
