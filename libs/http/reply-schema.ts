import { type JsonSchema } from './json-schema.js';

declare const TYPE: unique symbol;

export interface AnySchema {
  readonly json: JsonSchema;
  /** Named schemas that `json` refers to, directly or not. */
  readonly named: ReadonlyMap<string, JsonSchema>;
  readonly isOptional?: true;
}

/** Schema of a JSON value of exactly the type T. The compiler accepts neither a wider nor a narrower one instead. */
export interface Schema<T> extends AnySchema {
  readonly [TYPE]?: (value: T) => T;
}

/** Schema of a field that may be absent. */
export interface Optional<T> extends Schema<T> {
  readonly isOptional: true;
}

type Fields = Readonly<Record<string, AnySchema>>;

export interface ObjectSchema<F extends Fields> extends Schema<ObjectOf<F>> {
  readonly fields: F;
}

/** Type of the values that a schema describes. */
export type TypeOf<S extends AnySchema> = S extends { readonly [TYPE]?: (value: infer T) => unknown } ? T : never;

type OptionalIn<F extends Fields> = { [K in keyof F]: F[K] extends { isOptional: true } ? K : never }[keyof F];

type ObjectOf<F extends Fields> = {
  readonly [K in Exclude<keyof F, OptionalIn<F>>]: TypeOf<F[K]>;
} & {
  readonly [K in OptionalIn<F>]?: TypeOf<F[K]>;
};

/** Fields that describe a type declared elsewhere. Write `{…} satisfies FieldsOf<T>`. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? Optional<Exclude<T[K], undefined>>
    : Schema<T[K]>;
};

const NONE: AnySchema['named'] = new Map();

const described = (json: JsonSchema, description: string | undefined): JsonSchema =>
  description === undefined ? json : { ...json, description };

const plain =
  <T>(json: JsonSchema) =>
  (description?: string): Schema<T> => ({ json: described(json, description), named: NONE });

export const text = plain<string>({ type: 'string' });
export const integer = plain<number>({ type: 'integer' });
export const number = plain<number>({ type: 'number' });
export const boolean = plain<boolean>({ type: 'boolean' });
export const seconds = (description = 'Epoch seconds'): Schema<number> => integer(description);
export const milliseconds = (description = 'Epoch milliseconds'): Schema<number> => integer(description);
/** Number of the last event of a resource (docs/reference/rest-api.md#etag). */
export const revisionField = (): Schema<number> => integer('Rises with each change; the ETag of the resource');
/** An object with any fields. */
export const record = plain<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true });

/** Any JSON. T is its type in the server, such as RawJson. */
export const anyJson = <T = unknown>(description?: string): Schema<T> => plain<T>({})(description);

export const oneOf = <const T extends string | boolean>(values: readonly T[], description?: string): Schema<T> =>
  plain<T>({ type: typeof values[0] === 'string' ? 'string' : 'boolean', enum: [...values] })(description);

export const listOf = <S extends AnySchema>(items: S, description?: string): Schema<readonly TypeOf<S>[]> => ({
  json: described({ type: 'array', items: items.json }, description),
  named: items.named,
});

export const recordOf = <S extends AnySchema>(
  values: S,
  description?: string,
): Schema<Readonly<Record<string, TypeOf<S>>>> => ({
  json: described({ type: 'object', additionalProperties: values.json }, description),
  named: values.named,
});

/** The schema in JSON Schema 2020-12, which OpenAPI 3.1 uses: null is a type, and must be in an enum. */
const orNull = (json: JsonSchema): JsonSchema => {
  const { type, enum: values, anyOf: schemas, $ref } = json;
  if ($ref !== undefined) return { anyOf: [json, { type: 'null' }] };
  if (schemas) return { ...json, anyOf: [...schemas, { type: 'null' }] };
  if (type === undefined) return json;
  return { ...json, type: [type, 'null'].flat(), ...(values ? { enum: [...values, null] } : {}) };
};

/** A value or null. */
export const nullable = <S extends AnySchema>({ json, named }: S): Schema<TypeOf<S> | null> => ({
  json: orNull(json),
  named,
});

export const optional = <S extends AnySchema>({ json, named }: S): Optional<TypeOf<S>> => ({
  json,
  named,
  isOptional: true,
});

/**
 * A field whose value is a credential. It is sent once, and never stored with the reply, so a repeat lacks it
 * (docs/reference/rest-api.md#secrets-in-replies).
 */
export const secret = <S extends AnySchema>({ json, named }: S): Optional<TypeOf<S>> => ({
  json: { ...json, 'x-secret': true },
  named,
  isOptional: true,
});

/** A value of one of the schemas. */
export const anyOf = <S extends readonly AnySchema[]>(...schemas: S): Schema<TypeOf<S[number]>> => ({
  json: { anyOf: schemas.map(({ json }) => json) },
  named: allNamed(schemas),
});

/** An object that is described where it is used. */
export const object = <F extends Fields>(fields: F, description?: string): ObjectSchema<F> => {
  const entries = Object.entries(fields);
  const required = entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  const properties = Object.fromEntries(entries.map(([name, { json }]) => [name, json]));
  const json: JsonSchema = { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
  return { json: described(json, description), named: allNamed(Object.values(fields)), fields };
};

/** An object that `components.schemas` of the document describes under this name. */
export const named = <F extends Fields>(name: string, fields: F, description?: string): ObjectSchema<F> => {
  const { json, named: inner } = object(fields, description);
  return { json: { $ref: `#/components/schemas/${name}` }, named: new Map([...inner, [name, json]]), fields };
};

/** Throws when two schemas share a name. */
export const allNamed = (schemas: readonly AnySchema[]): ReadonlyMap<string, JsonSchema> => {
  const all = new Map<string, JsonSchema>();
  for (const [name, json] of schemas.flatMap((schema) => [...schema.named])) {
    if ((all.get(name) ?? json) !== json) throw new Error(`two schemas are named ${name}`);
    all.set(name, json);
  }
  return all;
};
