import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { getMetadataStorage, validate, type ValidationError } from 'class-validator';
import { type Request } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';

export type Parameters = Record<string, unknown>;

/**
 * Query and body as one object (decisions.md 1.1: both places are accepted everywhere). `query_wins` for subscription
 * and webhook routes, `body_wins` for component, source and workflow routes.
 * Throws request.invalid_json when the body is JSON but not an object.
 */
export const parameters = (request: Request, precedence: 'query_wins' | 'body_wins'): Parameters => {
  const query: Parameters = { ...request.query };
  const body = bodyObject(request.body);
  return precedence === 'query_wins' ? { ...body, ...query } : { ...query, ...body };
};

const bodyObject = (body: unknown): Parameters => {
  if (body === undefined || body === null) return {};
  if (typeof body === 'object' && !Array.isArray(body)) return { ...body };
  const actual = Array.isArray(body) ? 'an array' : `a ${typeof body}`;
  throw new DomainError('request.invalid_json', `the body must be a JSON object, got ${actual}`, { actual });
};

/**
 * An instance of the class, checked by its class-validator decorators. Unknown fields are dropped; objects and arrays
 * are taken as they came, without instances of classes within.
 * Throws request.missing_parameter or request.invalid_parameter for the first wrong field.
 */
export const validated = async <D extends object>(dto: ClassConstructor<D>, params: Parameters): Promise<D> => {
  const plain: Parameters = {};
  const whole: Parameters = {};
  for (const field of fieldsOf(dto)) {
    if (!Object.hasOwn(params, field)) continue;
    const value = params[field];
    // class-transformer's copy of an object takes a time that grows with the square of its keys.
    (typeof value === 'object' && value !== null ? whole : plain)[field] = value;
  }
  const instance = Object.assign(plainToInstance(dto, plain), whole);
  const errors = await validate(instance, {
    whitelist: true,
    forbidUnknownValues: false,
    validationError: { target: false },
  });
  const first = errors[0];
  if (first) throw invalid(first, '');
  for (const field of Object.keys(instance) as (keyof D & string)[]) {
    const value: unknown = instance[field];
    if (typeof value === 'string') Object.assign(instance, { [field]: plainText(value, field) });
  }
  return instance;
};

/** What the class speaks of, and nothing else. */
const fieldsOf = (dto: ClassConstructor<object>): ReadonlySet<string> =>
  new Set(
    getMetadataStorage()
      .getTargetValidationMetadatas(dto, '', false, false)
      .map(({ propertyName }) => propertyName),
  );

/**
 * A text as every store and header can hold it: halves of surrogate pairs become U+FFFD. Throws
 * request.invalid_parameter for a NUL, which ends a text for some of what reads it.
 */
export const plainText = (text: string, field: string): string => {
  const at = text.indexOf('\0');
  if (at === -1) return text.toWellFormed();
  throw new DomainError(
    'request.invalid_parameter',
    `parameter ${field} holds a NUL character at position ${at}: leave it out`,
    { field, actual: `NUL at ${at}` },
  );
};

const LENGTH_RULES = new Set(['minLength', 'maxLength', 'isLength', 'arrayMinSize', 'arrayMaxSize']);

const invalid = (error: ValidationError, parent: string): DomainError => {
  const field = parent === '' ? error.property : `${parent}.${error.property}`;
  const child = error.children?.[0];
  if (child) return invalid(child, field);
  const rules = Object.entries(error.constraints ?? {});
  // A wrong type says more than the limits that it breaks as well.
  const [rule, text] = rules.find(([name]) => /^is(?!Length)/.test(name)) ??
    rules.at(-1) ?? ['', `${field} is invalid`];
  const value: unknown = error.value;
  if (value === undefined || value === null) {
    return new DomainError('request.missing_parameter', `parameter ${field} is missing: ${text}`, { field });
  }
  const limit = /(-?\d+(?:\.\d+)?)(?: characters| elements)?$/.exec(text)?.[1];
  const actual = LENGTH_RULES.has(rule) && hasLength(value) ? value.length : describe(value);
  return new DomainError(
    'request.invalid_parameter',
    `parameter ${parent === '' ? '' : `${parent}.`}${text}; got ${String(actual)}`,
    {
      field,
      ...(limit === undefined ? {} : { limit: Number(limit) }),
      actual,
    },
  );
};

const hasLength = (value: unknown): value is { length: number } => typeof value === 'string' || Array.isArray(value);

/** A value short enough for an error text. */
export const describe = (value: unknown): string | number | boolean => {
  if (typeof value === 'string')
    return value.length > 100 ? `${value.slice(0, 100)}… (${value.length} characters)` : value;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : typeof value;
};
