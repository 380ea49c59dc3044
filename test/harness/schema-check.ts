/** The keywords of JSON Schema that docs/reference/openapi.json uses for replies. */
export interface CheckedSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, CheckedSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | CheckedSchema;
  readonly items?: CheckedSchema;
  readonly anyOf?: readonly CheckedSchema[];
  readonly description?: string;
  readonly 'x-secret'?: true;
}

export type NamedSchemas = Readonly<Record<string, CheckedSchema>>;

const KEYWORDS = new Set<string>([
  ...['$ref', 'type', 'enum', 'properties', 'required', 'additionalProperties', 'items', 'anyOf'],
  ...['description', 'x-secret'],
]);
const PREFIX = '#/components/schemas/';

/**
 * Lists how a value differs from a schema; none when it does not. Stricter than JSON Schema: a field that the schema
 * does not name is a difference unless `additionalProperties` allows it. Throws for a schema that it cannot check.
 */
export const differences = (schema: CheckedSchema, value: unknown, named: NamedSchemas, at = '$'): string[] => {
  const unknown = Object.keys(schema).filter((keyword) => !KEYWORDS.has(keyword));
  if (unknown.length > 0) throw new Error(`schema of ${at} has keywords that are not checked: ${unknown.join(', ')}`);
  if (schema.$ref !== undefined) return differences(resolved(schema.$ref, named), value, named, at);
  if (schema.anyOf) {
    const each = schema.anyOf.map((one) => differences(one, value, named, at));
    return each.some((found) => found.length === 0) ? [] : [`${at} matches none of anyOf: ${each.flat().join('; ')}`];
  }
  if (schema.type !== undefined && !hasType(schema.type, value))
    return [`${at} is ${nameOf(value)}, not ${[schema.type].flat().join(' or ')}`];
  if (schema.enum && !schema.enum.includes(value)) return [`${at} is ${JSON.stringify(value)}, not in the enum`];
  const { items } = schema;
  if (Array.isArray(value)) {
    return items ? value.flatMap((item, n) => differences(items, item, named, `${at}[${n}]`)) : [];
  }
  return isObject(value) && [schema.type].flat().includes('object') ? inFields(schema, value, named, at) : [];
};

const inFields = (
  { properties = {}, required = [], additionalProperties: more = false }: CheckedSchema,
  value: Readonly<Record<string, unknown>>,
  named: NamedSchemas,
  at: string,
): string[] => [
  ...required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}.${name} is missing`),
  ...Object.entries(value).flatMap(([name, field]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : more;
    if (schema === undefined || schema === false) return [`${at}.${name} is not in the schema`];
    return schema === true ? [] : differences(schema, field, named, `${at}.${name}`);
  }),
];

const resolved = ($ref: string, named: NamedSchemas): CheckedSchema => {
  const schema = $ref.startsWith(PREFIX) ? named[$ref.slice(PREFIX.length)] : undefined;
  if (!schema) throw new Error(`${$ref} is not in the document`);
  return schema;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => nameOf(value) === 'object';

const nameOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const hasType = (type: string | readonly string[], value: unknown): boolean =>
  [type].flat().some((each) => (each === 'integer' ? Number.isInteger(value) : nameOf(value) === each));
