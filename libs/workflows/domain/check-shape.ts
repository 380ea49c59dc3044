import { nearMiss } from '#libs/kernel/near-miss.js';
import { type Findings, type Path } from './findings.js';
import { type ObjectShape, type Shape } from './shape.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Checks a JSON value of at most 64 levels. Unknown keys are warnings. */
export const checkShape = (shape: Shape, value: unknown, path: Path, found: Findings): void => {
  if (found.isFull) return;
  const type = typeOf(shape);
  if (type !== undefined && kindOf(value) !== type) {
    found.error(path, 'type', `must be ${NOUNS[type]}; got ${kindTold(value)}`);
    return;
  }
  switch (shape.kind) {
    case 'text':
      return checkText(shape, value as string, path, found);
    case 'integer':
      return checkInteger(shape, value as number, path, found);
    case 'flag':
      return;
    case 'choice':
      if (shape.of.includes(value as string)) return;
      return found.error(path, 'enum', `must be one of ${shape.of.join(', ')}; got ${told(value)}`);
    case 'list':
      return checkList(shape, value as readonly unknown[], path, found);
    case 'map':
      return checkMap(shape, value as JsonObject, path, found);
    case 'object':
      return checkObject(shape, value as JsonObject, path, found);
    case 'either': {
      const fitting = shape.of.find((each) => typeOf(each) === kindOf(value));
      if (fitting) return checkShape(fitting, value, path, found);
      const nouns = shape.of.map((each) => NOUNS[typeOf(each) ?? 'object']);
      return found.error(path, 'type', `must be ${nouns.join(' or ')}; got ${kindTold(value)}`);
    }
    case 'tagged':
      return checkTagged(shape, value as JsonObject, path, found);
  }
};

type Kind = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'null';

const NOUNS: Readonly<Record<Kind, string>> = {
  string: 'a text',
  number: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** Type of every value of a shape. Undefined for a shape of several types. */
const typeOf = (shape: Shape): Kind | undefined => {
  switch (shape.kind) {
    case 'text':
    case 'choice':
      return 'string';
    case 'integer':
      return 'number';
    case 'flag':
      return 'boolean';
    case 'list':
      return 'array';
    case 'map':
    case 'object':
    case 'tagged':
      return 'object';
    case 'either':
      return undefined;
  }
};

const kindOf = (value: unknown): Kind | undefined => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'object' ? type : undefined;
};

/** The kind of a value of another type. The value itself may be a token. */
const kindTold = (value: unknown): string => {
  const kind = kindOf(value);
  if (kind === 'number') return 'a number';
  return kind === undefined ? typeof value : NOUNS[kind];
};

const MAX_SHOWN = 60;

/** A value in a form short enough for an error text. */
const told = (value: unknown): string => {
  const kind = kindOf(value);
  if (kind === 'array' || kind === 'object') return NOUNS[kind];
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)` : text;
};

type Of<K extends Shape['kind']> = Extract<Shape, { readonly kind: K }>;

const checkText = (
  { min = 0, max, pattern, not = [] }: Of<'text'>,
  value: string,
  path: Path,
  found: Findings,
): void => {
  if (value.length < min || value.length > max)
    return found.error(path, 'range', `must have ${min} to ${max} characters; got ${value.length}`);
  if (not.includes(value)) return found.error(path, 'format', `must not be one of ${not.join(', ')}`);
  if (value.includes('\0')) return found.error(path, 'format', 'must not hold a NUL character');
  // The value of a token must not be shown, so no value is.
  if (pattern && !pattern.test(value)) found.error(path, 'format', `must match ${pattern.source}`);
};

const checkInteger = ({ min, max, maxIs }: Of<'integer'>, value: number, path: Path, found: Findings): void => {
  if (!Number.isSafeInteger(value)) return found.error(path, 'type', `must be an integer; got ${value}`);
  const whose = maxIs === undefined ? '' : ` (${maxIs})`;
  if (value < min || value > max) found.error(path, 'range', `must be ${min} to ${max}${whose}; got ${value}`);
};

const checkList = ({ of, max }: Of<'list'>, value: readonly unknown[], path: Path, found: Findings): void => {
  if (value.length > max) found.error(path, 'range', `must have at most ${max} elements; got ${value.length}`);
  for (const [i, each] of value.slice(0, max).entries()) checkShape(of, each, [...path, i], found);
};

const checkMap = ({ of, maxKeys, maxKey }: Of<'map'>, value: JsonObject, path: Path, found: Findings): void => {
  const keys = Object.keys(value);
  if (keys.length > maxKeys) found.error(path, 'range', `must have at most ${maxKeys} keys; got ${keys.length}`);
  for (const key of keys.slice(0, maxKeys)) {
    if (key.length > maxKey)
      found.error([...path, key], 'range', `the key must have at most ${maxKey} characters; got ${key.length}`);
    else if (of) checkShape(of, value[key], [...path, key], found);
  }
};

const checkObject = ({ fields }: ObjectShape, value: JsonObject, path: Path, found: Findings): void => {
  for (const [key, { shape, required, nullable, unsupported }] of Object.entries(fields)) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    if (given === undefined || (given === null && nullable)) {
      if (required) found.error([...path, key], 'required', `${key} is required`);
    } else if (unsupported !== undefined) found.error([...path, key], 'unsupported', unsupported);
    else checkShape(shape, given, [...path, key], found);
  }
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
  for (const key of unknown.slice(0, MAX_UNKNOWN)) warnOfUnknown(key, Object.keys(fields), path, found);
};

/** Unknown keys of one object that are told, because the comparison of each takes time. */
const MAX_UNKNOWN = 50;

const warnOfUnknown = (key: string, known: readonly string[], path: Path, found: Findings): void => {
  const meant = nearMiss(key, known);
  const hint = meant === undefined ? '.' : `: did you mean ${meant}?`;
  found.warn([...path, key], 'unknown_key', `the key is ignored${hint} Known keys: ${known.join(', ')}`);
};

const checkTagged = ({ of, untyped }: Of<'tagged'>, value: JsonObject, path: Path, found: Findings): void => {
  const type = Object.hasOwn(value, 'type') ? value['type'] : undefined;
  if (type === undefined && untyped && Object.hasOwn(value, 'id')) return checkObject(untyped, value, path, found);
  const place = [...path, 'type'];
  const types = Object.keys(of).join(', ');
  if (type === undefined) return found.error(place, 'required', `type is required, one of ${types}`);
  const chosen = typeof type === 'string' && Object.hasOwn(of, type) ? of[type] : undefined;
  if (chosen === undefined) return found.error(place, 'enum', `must be one of ${types}; got ${told(type)}`);
  if (typeof chosen === 'string') return found.error(place, 'unsupported', chosen);
  checkObject(chosen, value, path, found);
};
