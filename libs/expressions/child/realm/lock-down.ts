/** Objects of the language for expressions. All other objects of the realm are removed. */
const NAMES: ReadonlySet<PropertyKey> = new Set([
  ...['Object', 'Function', 'Array', 'Number', 'BigInt', 'Boolean', 'String', 'Symbol', 'Date', 'RegExp', 'Math'],
  ...['JSON', 'Intl', 'Map', 'Set', 'WeakMap', 'WeakSet', 'Reflect', 'Iterator', 'ArrayBuffer', 'DataView'],
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
  ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'],
  ...[
    '$evaluate',
    'undefined',
    'NaN',
    'Infinity',
    'isFinite',
    'isNaN',
    'parseFloat',
    'parseInt',
    'escape',
    'unescape',
    'eval',
  ],
  ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent'],
]);

/** Roots that no global refers to, because only syntax creates them. */
const hiddenRoots = (): readonly object[] => [
  function* (): Generator {},
  [].values(),
  new Map().entries(),
  new Set().values(),
  ''[Symbol.iterator](),
  'a'.matchAll(/a/g),
  new Intl.Segmenter().segment('a'),
  new Intl.Segmenter().segment('a')[Symbol.iterator](),
];

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/**
 * Turns the values of a prototype into accessors. Assigning `toString` or `name` to an object would throw otherwise,
 * because its prototype is frozen.
 */
const letObjectsOverride = (prototype: object): void => {
  for (const key of Reflect.ownKeys(prototype)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(prototype, key);
    if (descriptor?.configurable !== true || !('value' in descriptor)) continue;
    const value: unknown = descriptor.value;
    Reflect.defineProperty(prototype, key, {
      configurable: true,
      enumerable: false,
      get: () => value,
      set(this: object, own: unknown) {
        if (this === prototype) throw new TypeError(`${String(key)} of the language cannot be changed`);
        Reflect.defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
      },
    });
  }
};

/** Removes `RegExp.$1` and the like, which reveal what the last expression matched. */
const forgetMatches = (): void => {
  for (const key of Reflect.ownKeys(RegExp)) {
    const isAccessor = Reflect.getOwnPropertyDescriptor(RegExp, key)?.get !== undefined;
    if (isAccessor && key !== Symbol.species) Reflect.deleteProperty(RegExp, key);
  }
};

/** Freezes everything reachable from the roots, except the global object, which cannot be frozen. */
const freezeAll = (roots: readonly unknown[], globalObject: object): void => {
  const seen = new Set<object>([globalObject]);
  const waiting: object[] = [];
  const add = (value: unknown): void => {
    if (!isObject(value) || seen.has(value)) return;
    seen.add(value);
    waiting.push(value);
  };
  roots.forEach(add);
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    add(Reflect.getPrototypeOf(each));
    for (const key of Reflect.ownKeys(each)) {
      const descriptor: object = Reflect.getOwnPropertyDescriptor(each, key) ?? {};
      (Object.values(descriptor) as readonly unknown[]).forEach(add);
    }
    Object.freeze(each);
  }
};

/**
 * Leaves only objects of the language in the realm, and makes them immutable, so that no state of one expression is
 * visible to the next. Runs before any expression.
 *
 * @returns whether the global object is still as it was. It is the one object that can get new properties.
 */
export const lockDown = (globalObject: object): (() => boolean) => {
  for (const key of Reflect.ownKeys(globalObject)) if (!NAMES.has(key)) Reflect.deleteProperty(globalObject, key);
  Reflect.deleteProperty(Array, 'fromAsync');
  forgetMatches();
  const errors = [Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
  for (const { prototype } of [Object, ...errors]) letObjectsOverride(prototype);
  const keys = Reflect.ownKeys(globalObject);
  const globals: readonly unknown[] = keys.map((key): unknown => Reflect.get(globalObject, key));
  freezeAll([...globals, ...hiddenRoots()], globalObject);
  for (const key of keys) {
    const descriptor = Reflect.getOwnPropertyDescriptor(globalObject, key);
    // The value must be named: a context of Node loses it when only the attributes are.
    if (descriptor?.configurable === true)
      Reflect.defineProperty(globalObject, key, {
        value: Reflect.get(globalObject, key),
        writable: false,
        configurable: false,
      });
  }
  const prototype = Reflect.getPrototypeOf(globalObject);
  return () =>
    Reflect.ownKeys(globalObject).length === keys.length && Reflect.getPrototypeOf(globalObject) === prototype;
};
