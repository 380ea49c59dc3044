import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { getMetadataStorage, validate, type ValidationError } from 'class-validator';
import { type Request } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';

export type Parameters = Record<string, unknown>;

/** Whether the query or the body decides when both hold a parameter. */
export type Precedence = 'query_wins' | 'body_wins';

const MergedParameters = createParamDecorator((precedence: Precedence, context: ExecutionContext) =>
  parameters(context.switchToHttp().getRequest<Request>(), precedence),
);

/**
 * Injects the parameters of the request as an instance of the class, checked by `validated`. Without a class they are
 * injected unchecked.
 */
export const Params = (precedence: Precedence, dto?: ClassConstructor<object>): ParameterDecorator =>
  dto === undefined
    ? MergedParameters(precedence)
    : MergedParameters(precedence, { transform: (params: Parameters) => validated(dto, params) });

/**
 * Merges query and body into one object, because every route accepts both. The precedence of each route stands in
 * docs/reference/rest-api.md#parameter-places.
 * Throws request.invalid_json when the body is JSON but not an object.
 */
export const parameters = (
  request: { readonly query: object; readonly body?: unknown },
  precedence: Precedence,
): Parameters => {
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
 * Creates an instance of the class and checks it by its class-validator decorators. Drops unknown fields. Objects and
 * arrays are taken unchanged, without conversion to class instances.
 * Throws request.missing_parameter or request.invalid_parameter for the first wrong field.
 */
export const validated = async <D extends object>(dto: ClassConstructor<D>, params: Parameters): Promise<D> => {
  const plain: Parameters = {};
  const whole: Parameters = {};
  for (const field of fieldsOf(dto)) {
    if (!Object.hasOwn(params, field)) continue;
    const value = params[field];
    // class-transformer copies an object in time quadratic in its number of keys.
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

/** Fields that the class declares. */
const fieldsOf = (dto: ClassConstructor<object>): ReadonlySet<string> =>
  new Set(
    getMetadataStorage()
      .getTargetValidationMetadatas(dto, '', false, false)
      .map(({ propertyName }) => propertyName),
  );

/**
 * Makes a text safe for every store and header by turning lone surrogates into U+FFFD. Throws
 * request.invalid_parameter for a NUL, because some readers end a text there.
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
  // A wrong type is more useful to the caller than the limits that it also breaks.
  const [rule, text] = rules.find(([name]) => /^is(?!Length)/.test(name)) ??
    rules.at(-1) ?? ['', `${field} is invalid`];
  const value: unknown = error.value;
  if (value === undefined || value === null) {
    return new DomainError('request.missing_parameter', `parameter ${field} is missing`, { field });
  }
  const must = rule === 'isBoolean' ? `${error.property} must be true or false` : text;
  const limit = /(-?\d+(?:\.\d+)?)(?: characters| elements)?$/.exec(text)?.[1];
  const actual = LENGTH_RULES.has(rule) && hasLength(value) ? value.length : describe(value);
  return new DomainError(
    'request.invalid_parameter',
    `parameter ${parent === '' ? '' : `${parent}.`}${must}; got ${String(actual)}`,
    {
      field,
      ...(limit === undefined ? {} : { limit: Number(limit) }),
      actual,
    },
  );
};

const hasLength = (value: unknown): value is { length: number } => typeof value === 'string' || Array.isArray(value);

/** Describes a value in a form short enough for an error text. */
export const describe = (value: unknown): string | number | boolean => {
  if (typeof value === 'string')
    return value.length > 100 ? `${value.slice(0, 100)}… (${value.length} characters)` : value;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : typeof value;
};
