/** Finds what JSON drops or changes in a value that it accepts (docs/reference/component-model.md#warning-loss). */
import { isPlain } from './plain-object.js';

/** The first values of a process are all checked, so that an author who tries code sees each loss. */
const FIRST_VALUES = 32;
/**
 * Of the later values every 32nd is checked, and each whose JSON is empty, because a check costs as much as the JSON.
 */
const LATER_VALUES = 32;
const MAX_VISITS = 5_000;
const MAX_DEPTH = 64;
const MAX_PATH = 200;

let seen = 0;

/** False when the value cannot lose anything, or a check would cost too much. `text` is the JSON of the value. */
export const mayLose = (value: unknown, text: string): boolean => {
  if (typeof value !== 'object') return text === 'null';
  return ++seen <= FIRST_VALUES || seen % LATER_VALUES === 0 || text === '{}';
};

/** Describes the first loss in a value called `name`, with its remedy, or returns undefined. Never throws. */
export const lossIn = (value: unknown, name: string): string | undefined => {
  try {
    const loss = new Search().find(value, 0);
    if (!loss) return undefined;
    const path = loss.path.replace(/^\./, '').slice(0, MAX_PATH);
    return path === '' ? `${name} ${loss.what}` : `${path} in ${name} ${loss.what}`;
  } catch {
    // A proxy of the component threw.
    return undefined;
  }
};

interface Loss {
  /** Built on the way back, so that a value without loss creates no texts. */
  readonly path: string;
  readonly what: string;
}

class Search {
  private visits = 0;

  find(value: unknown, depth: number): Loss | undefined {
    if (++this.visits > MAX_VISITS || depth > MAX_DEPTH) return undefined;
    if (typeof value === 'number')
      return Number.isFinite(value) ? undefined : here(`is ${value}, which JSON writes as null`);
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof Reflect.get(value, 'toJSON') === 'function') return undefined;
    if (Array.isArray(value)) return this.inList(value, depth);
    const known = KNOWN[tagOf(value)];
    return known === undefined ? this.inFields(value, depth) : here(known);
  }

  private inFields(value: object, depth: number): Loss | undefined {
    const keys = Object.keys(value);
    let undefinedOnes = 0;
    for (const key of keys) {
      const given = Object.getOwnPropertyDescriptor(value, key);
      // A getter is not called a second time.
      if (!given || !('value' in given)) continue;
      const each: unknown = given.value;
      if (each === undefined) undefinedOnes++;
      if (typeof each === 'function' || typeof each === 'symbol')
        return within(`.${key}`, here(`is a ${typeof each}, which JSON leaves out: remove it, or pass its result`));
      const found = this.find(each, depth + 1);
      if (found) return within(`.${key}`, found);
    }
    if (keys.length === 0 && !isPlain(value))
      return here(`is an instance of ${nameOf(value)} and becomes {}: copy its fields into a plain object`);
    // An optional field may be undefined, but not every field.
    if (depth === 0 && keys.length > 0 && keys.length === undefinedOnes)
      return within(`.${keys[0] ?? ''}`, here('is undefined, which JSON leaves out, so nothing but {} is left'));
    return undefined;
  }

  private inList(list: readonly unknown[], depth: number): Loss | undefined {
    for (let i = 0; i < list.length && this.visits <= MAX_VISITS; i++) {
      const each = list[i];
      const found =
        each === undefined || typeof each === 'function' || typeof each === 'symbol'
          ? here(
              `is ${each === undefined ? 'undefined' : `a ${typeof each}`}, which JSON writes as null: filter the list`,
            )
          : this.find(each, depth + 1);
      if (found) return within(`[${i}]`, found);
    }
    return undefined;
  }
}

/** `Map`, `Error` and so on. */
const tagOf = (value: object): string => Object.prototype.toString.call(value).slice(8, -1);
const here = (what: string): Loss => ({ path: '', what });
const within = (step: string, { path, what }: Loss): Loss => ({ path: `${step.slice(0, MAX_PATH)}${path}`, what });

const nameOf = (value: object): string => {
  const name: unknown = Reflect.get(Object(Reflect.get(value, 'constructor')), 'name');
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : 'a class';
};

/** JSON of built-in objects without `toJSON`, by their tag. */
const KNOWN: Readonly<Record<string, string>> = Object.assign(Object.create(null) as Record<string, string>, {
  Map: 'is a Map and becomes {}: pass Object.fromEntries(map)',
  Set: 'is a Set and becomes {}: pass [...set]',
  WeakMap: 'is a WeakMap and becomes {}: pass a plain object',
  WeakSet: 'is a WeakSet and becomes {}: pass a list',
  Error: 'is an Error, whose message JSON leaves out: pass { name: error.name, message: error.message }',
  RegExp: 'is a RegExp and becomes {}: pass String(regexp)',
  Promise: 'is a Promise and becomes {}: write "await" before it',
  ArrayBuffer: 'is an ArrayBuffer and becomes {}: pass Buffer.from(buffer).toString("base64")',
  URLSearchParams: 'is a URLSearchParams and becomes {}: pass Object.fromEntries(params)',
  Headers: 'is a Headers and becomes {}: pass Object.fromEntries(headers)',
  FormData: 'is a FormData and becomes {}: pass Object.fromEntries(form)',
  Response: 'is a Response and becomes {}: pass await response.json()',
});
