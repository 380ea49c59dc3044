import { type PropType } from '../messages.js';

/** A value has another type than its prop, or a required prop has none. */
export class WrongProp extends Error {
  /** @param path name of the prop, and which item of a list */
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
    this.name = 'WrongProp';
  }
}

/**
 * Converts the value of a prop to its type: text to the number, flag, list or object that it stands for, and other
 * values to text. Undefined for an optional prop without a value. Null counts as none, but for a prop of type `any`.
 * Throws WrongProp.
 */
export const converted = (prop: PropType, value: unknown): unknown => {
  const given = value === null && prop.type !== 'any' ? undefined : value;
  if (given !== undefined) return coerced(prop.name, prop.type, given);
  if (prop.default !== undefined && prop.default !== null) return prop.default;
  if (prop.optional === true) return undefined;
  throw new WrongProp(prop.name, `is required and has no value: give it ${wanted(prop.type)}`);
};

const coerced = (name: string, type: string, value: unknown): unknown => {
  if (type.endsWith('[]')) return list(name, type.slice(0, -'[]'.length), value);
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'integer':
      return integer(name, value);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      if (value === 'true' || value === 'false') return value === 'true';
      throw wrong(name, type, value);
    case 'object':
    case 'http_request': {
      const object = typeof value === 'string' ? jsonIn(value) : value;
      if (typeof object === 'object' && object !== null && !Array.isArray(object)) return object;
      throw wrong(name, type, value);
    }
    default:
      return value;
  }
};

const list = (name: string, type: string, value: unknown): readonly unknown[] => {
  const items = typeof value === 'string' ? jsonIn(value) : value;
  if (!Array.isArray(items)) throw wrong(name, `${type}[]`, value);
  return items.map((item: unknown, i) => {
    if (item === null && type !== 'any') throw wrong(`${name}[${i}]`, type, item);
    return coerced(`${name}[${i}]`, type, item);
  });
};

const integer = (name: string, value: unknown): number => {
  const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  throw wrong(name, 'integer', value);
};

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const wrong = (name: string, type: string, value: unknown): WrongProp =>
  new WrongProp(name, `must be ${wanted(type)}, not ${shown(value)}`);

const wanted = (type: string): string => {
  if (type.endsWith('[]')) return `a list of ${type.slice(0, -'[]'.length)}`;
  return type === 'integer' || type === 'object' ? `an ${type}` : type === 'any' ? 'a value' : `a ${type}`;
};

const SHOWN = 60;

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
};
