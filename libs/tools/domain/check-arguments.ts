import { isJsonObject, isJsonType, type JsonType } from '#libs/component-model/json-types.js';
import { type JsonSchema } from './action-schema.js';

/** Comparisons of one check. Each value of the arguments is compared once with each schema that it must fit. */
export const MAX_COMPARISONS = 200_000;
/** Faults that one answer tells. */
const MAX_FAULTS = 5;

/**
 * Checks arguments of a workflow against the `input` of its trigger, in which `inputFaults` has found none. Returns texts,
 * empty for arguments that fit. Keywords that are not read here are for the model only: no regular expression of a user
 * may run here, and a `$ref` may refer to itself. They never make right arguments wrong.
 */
export const argumentFaults = (schema: JsonSchema, given: unknown): readonly string[] => {
  const check = new Check();
  check.value(schema, given, 'arguments');
  if (check.isSpent)
    return [`arguments: have too many values to be checked; ${MAX_COMPARISONS} comparisons are the limit`];
  return check.faults;
};

class Check {
  readonly faults: string[] = [];

  constructor(
    private readonly budget = { left: MAX_COMPARISONS },
    private readonly equality = new Equality(),
  ) {}

  get isSpent(): boolean {
    return this.budget.left <= 0;
  }

  value(schema: JsonSchema, value: unknown, path: string): void {
    this.spend(1);
    if (this.isOver) return;
    const types = typesOf(schema['type']);
    if (types.length > 0 && !types.some((type) => isOfType(type, value))) {
      this.fault(path, `must be ${types.map(nounOf).join(' or ')}; got ${told(value)}`);
      return;
    }
    this.choice(schema, value, path);
    this.alternatives(schema, value, path);
    if (typeof value === 'string') this.length(schema, value, path);
    else if (typeof value === 'number') this.range(schema, value, path);
    else if (Array.isArray(value)) this.list(schema, value, path);
    else if (isJsonObject(value)) this.object(schema, value, path);
  }

  private get isOver(): boolean {
    return this.isSpent || this.faults.length >= MAX_FAULTS;
  }

  private spend(comparisons: number): void {
    this.budget.left -= comparisons;
  }

  private fault(path: string, text: string): void {
    if (!this.isOver) this.faults.push(`${path}: ${text}`);
  }

  private choice(schema: JsonSchema, value: unknown, path: string): void {
    const { enum: choices, const: only } = schema;
    if (Array.isArray(choices)) {
      this.spend(choices.length);
      if (!choices.some((each) => this.equality.holds(each, value))) {
        this.fault(path, `must be one of ${choices.slice(0, 20).map(told).join(', ')}; got ${told(value)}`);
      }
    }
    if ('const' in schema && !this.equality.holds(only, value))
      this.fault(path, `must be ${told(only)}; got ${told(value)}`);
  }

  /** One schema of `oneOf` must fit, and not exactly one: a keyword that is not checked may be what tells them apart. */
  private alternatives(schema: JsonSchema, value: unknown, path: string): void {
    for (const each of schemasIn(schema['allOf'])) this.value(each, value, path);
    for (const key of ['anyOf', 'oneOf']) {
      const forms = schemasIn(schema[key]);
      if (forms.length > 0 && !forms.some((form) => this.fits(form, value)) && !this.isSpent) {
        this.fault(path, `fits none of the ${forms.length} forms that are allowed; got ${told(value)}`);
      }
    }
  }

  private fits(schema: JsonSchema, value: unknown): boolean {
    const check = new Check(this.budget, this.equality);
    check.value(schema, value, '');
    return check.faults.length === 0;
  }

  private length(schema: JsonSchema, value: string, path: string): void {
    const { minLength, maxLength } = schema;
    if (minLength === undefined && maxLength === undefined) return;
    this.spend(Math.ceil(value.length / 100));
    if (this.isOver) return;
    const length = codePoints(value);
    this.atLeast(minLength, length, path, 'have at least', 'characters');
    this.atMost(maxLength, length, path, 'have at most', 'characters');
  }

  private range(schema: JsonSchema, value: number, path: string): void {
    const { exclusiveMinimum: above, exclusiveMaximum: below } = schema;
    this.atLeast(schema['minimum'], value, path, 'be at least');
    this.atMost(schema['maximum'], value, path, 'be at most');
    if (typeof above === 'number' && value <= above) this.fault(path, `must be more than ${above}; got ${value}`);
    if (typeof below === 'number' && value >= below) this.fault(path, `must be less than ${below}; got ${value}`);
  }

  private list(schema: JsonSchema, value: readonly unknown[], path: string): void {
    this.atLeast(schema['minItems'], value.length, path, 'have at least', 'items');
    this.atMost(schema['maxItems'], value.length, path, 'have at most', 'items');
    const { items, prefixItems } = schema;
    if (!isJsonObject(items)) return;
    const first = Array.isArray(prefixItems) ? prefixItems.length : 0;
    for (let i = first; i < value.length && !this.isOver; i++) this.value(items, value[i], `${path}[${i}]`);
  }

  private object(schema: JsonSchema, value: JsonSchema, path: string): void {
    const required = Array.isArray(schema['required']) ? (schema['required'] as readonly unknown[]) : [];
    this.spend(required.length);
    for (const key of required) {
      if (typeof key === 'string' && !Object.hasOwn(value, key)) this.fault(`${path}.${key}`, 'is required');
    }
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const { additionalProperties: others } = schema;
    // Which of the others a pattern takes is not known here.
    const areOpen = schema['patternProperties'] !== undefined;
    for (const [key, each] of Object.entries(value)) {
      if (this.isOver) return;
      const at = `${path}.${key.slice(0, 100)}`;
      const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (own !== undefined) {
        if (isJsonObject(own)) this.value(own, each, at);
      } else if (!areOpen && others === false) this.fault(at, 'is unknown');
      else if (!areOpen && isJsonObject(others)) this.value(others, each, at);
      else this.spend(1);
    }
  }

  private atLeast(limit: unknown, actual: number, path: string, verb: string, noun?: string): void {
    if (typeof limit === 'number' && actual < limit) this.bound(limit, actual, path, verb, noun);
  }

  private atMost(limit: unknown, actual: number, path: string, verb: string, noun?: string): void {
    if (typeof limit === 'number' && actual > limit) this.bound(limit, actual, path, verb, noun);
  }

  private bound(limit: number, actual: number, path: string, verb: string, noun?: string): void {
    this.fault(path, `must ${verb} ${limit}${noun === undefined ? '' : ` ${noun}`}; got ${actual}`);
  }
}

/** Compares JSON at the cost of the smaller value, because arguments may be large and choices many. */
class Equality {
  private readonly sizes = new Map<object, number>();

  holds(expected: unknown, value: unknown): boolean {
    if (expected === value) return true;
    if (Array.isArray(expected)) {
      if (!Array.isArray(value) || value.length !== expected.length) return false;
      return expected.every((each, i) => this.holds(each, value[i]));
    }
    if (!isJsonObject(expected) || !isJsonObject(value) || this.sizeOf(expected) !== this.sizeOf(value)) return false;
    return Object.keys(expected).every((key) => Object.hasOwn(value, key) && this.holds(expected[key], value[key]));
  }

  private sizeOf(object: JsonSchema): number {
    const size = this.sizes.get(object) ?? Object.keys(object).length;
    this.sizes.set(object, size);
    return size;
  }
}

/** JSON Schema counts code points, not UTF-16 units. */
const codePoints = (text: string): number => {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
};

const typesOf = (type: unknown): readonly JsonType[] =>
  (Array.isArray(type) ? (type as readonly unknown[]) : [type]).filter(isJsonType);

const schemasIn = (list: unknown): readonly JsonSchema[] =>
  Array.isArray(list) ? (list as readonly unknown[]).filter(isJsonObject) : [];

const isOfType = (type: JsonType, value: unknown): boolean => {
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    case 'integer':
      return Number.isInteger(value);
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
  }
};

const nounOf = (type: JsonType): string => (type === 'null' ? 'null' : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`);

const told = (value: unknown): string => {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isJsonObject(value)) return 'an object';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value);
};
