import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { isLabelAndValue, isLabelled, unlabelled } from './bound-value.js';
import { invalidProp, toldOf } from './prop-error.js';

/** Bytes of one configured value, as text or as JSON. See docs/reference/limits.md#configured-value. */
export const MAX_VALUE_BYTES = 64 * 1024;

type Scalar = 'string' | 'integer' | 'boolean';

/**
 * Checks a value against the prop's type and returns it as stored. Text becomes the number, flag, list or object that
 * it stands for. A labelled value is kept as given. Values outside `options` are accepted, because the list is only an
 * offer for forms. Throws source.invalid_prop.
 */
export const normalisedValue = (prop: ConfigurableProp, value: unknown): unknown => {
  checkSize(prop.name, value);
  if (isLabelled(value)) {
    const labelled = Array.isArray(value.__lv) ? value.__lv : [value.__lv];
    if (!labelled.every(isLabelAndValue)) throw invalidProp(prop.name, '{__lv: {label, value}}', toldOf(prop, value));
    coerced(prop, unlabelled(value));
    return value;
  }
  return coerced(prop, value);
};

const checkSize = (prop: string, value: unknown): void => {
  const size = Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  if (size > MAX_VALUE_BYTES) {
    throw invalidProp(prop, `at most ${MAX_VALUE_BYTES} bytes`, `${size} bytes`, MAX_VALUE_BYTES);
  }
};

const coerced = (prop: ConfigurableProp, value: unknown): unknown => {
  switch (prop.type) {
    case 'string':
    case 'integer':
    case 'boolean':
      return scalar(prop, prop.type, value, '');
    case 'string[]':
      return list(prop, 'string', value);
    case 'integer[]':
      return list(prop, 'integer', value);
    case 'boolean[]':
      return list(prop, 'boolean', value);
    case 'object':
    case 'http_request':
      return object(prop, value);
    case 'data_store':
      return scalar(prop, 'string', value, '');
    case 'app':
      return account(prop, value);
    default:
      return special(prop, value);
  }
};

/**
 * `$.discord.*` and `$.airtable.*` are texts, and so is any `$.` type that `coerced` does not name. Any other plain word
 * counts as `any`. See docs/reference/component-model.md#prop-types.
 */
const special = (prop: ConfigurableProp, value: unknown): unknown => {
  if (!prop.type.startsWith('$.')) return value;
  return prop.type.endsWith('[]') ? list(prop, 'string', value) : scalar(prop, 'string', value, '');
};

const list = (prop: ConfigurableProp, type: Scalar, value: unknown): unknown[] => {
  const given = typeof value === 'string' ? parsed(prop, value) : value;
  if (!Array.isArray(given)) throw invalidProp(prop.name, `an array of ${type}`, toldOf(prop, value));
  return given.map((item: unknown, i) => scalar(prop, type, item, `[${i}]`));
};

const scalar = (prop: ConfigurableProp, type: Scalar, value: unknown, at: string): string | number | boolean => {
  const name = prop.name + at;
  switch (type) {
    case 'string':
      if (typeof value === 'string') return value;
      if (typeof value === 'number' || typeof value === 'boolean') return String(value);
      throw invalidProp(name, 'a string', toldOf(prop, value));
    case 'integer':
      return integer(prop, name, value);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      if (value === 'true' || value === 'false') return value === 'true';
      throw invalidProp(name, 'a boolean', toldOf(prop, value));
  }
};

const integer = (prop: ConfigurableProp, name: string, value: unknown): number => {
  const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number))
    throw invalidProp(name, 'an integer', toldOf(prop, value));
  if (prop.min !== undefined && number < prop.min) {
    throw invalidProp(name, `an integer of at least ${prop.min}`, number, prop.min);
  }
  if (prop.max !== undefined && number > prop.max) {
    throw invalidProp(name, `an integer of at most ${prop.max}`, number, prop.max);
  }
  return number;
};

const object = (prop: ConfigurableProp, value: unknown): unknown => {
  const given = typeof value === 'string' ? parsed(prop, value) : value;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidProp(prop.name, 'an object', toldOf(prop, value));
  }
  return given;
};

const account = (prop: ConfigurableProp, value: unknown): unknown => {
  if (typeof value === 'object' && value !== null && 'authProvisionId' in value) {
    const { authProvisionId } = value;
    if (typeof authProvisionId === 'string' && authProvisionId !== '') return { authProvisionId };
  }
  throw invalidProp(prop.name, '{authProvisionId: "apn_…"}', toldOf(prop, value));
};

/** Parses JSON; undefined for any other text. Only a text can nest deeper than the body that held it. */
const parsed = (prop: ConfigurableProp, text: string): unknown => {
  const value = jsonIn(text);
  if (!nestsTooDeep(value)) return value;
  throw invalidProp(prop.name, `JSON of at most ${MAX_NESTING} levels`, 'more levels', MAX_NESTING);
};

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** See docs/reference/limits.md#configured-nesting. */
const MAX_NESTING = 256;

/** Walks level by level, because a recursion would exhaust the stack. */
const nestsTooDeep = (value: unknown): boolean => {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_NESTING) return true;
    level = level.flatMap((each) => Object.values(each).filter(isContainer));
  }
  return false;
};

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
