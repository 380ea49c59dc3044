import { type JsonSchema } from './json-schema.js';
import { type AnySchema } from './reply-schema.js';

const REFERENCE = '#/components/schemas/';

/** A reply without the fields that its schema marks as secret, wherever they are (docs/reference/rest-api.md#secrets-in-replies). */
export const withoutSecrets = ({ json, named }: AnySchema, reply: unknown): unknown => {
  const without = (value: unknown, schemas: readonly JsonSchema[]): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = schemas.flatMap((schema) => plain(schema.items));
      return items.length === 0 ? value : value.map((item: unknown) => without(item, items));
    }
    if (!mayHoldSecrets(schemas)) return value;
    const kept = Object.entries(value).flatMap(([name, field]) => {
      const schemasOfField = schemas.flatMap((schema) => fieldOf(schema, name));
      return schemasOfField.some((schema) => schema['x-secret'] === true)
        ? []
        : [[name, without(field, schemasOfField.flatMap(plain))] as const];
    });
    return Object.fromEntries(kept);
  };

  /** The schema, with references and alternatives resolved. */
  const plain = (schema: JsonSchema | undefined): JsonSchema[] => {
    if (schema === undefined) return [];
    if (schema.$ref !== undefined) return plain(named.get(schema.$ref.slice(REFERENCE.length)));
    return schema.anyOf ? schema.anyOf.flatMap(plain) : [schema];
  };

  return without(reply, plain(json));
};

/** Only a described object is copied. Others, such as raw JSON, stay the objects that they are. */
const mayHoldSecrets = (schemas: readonly JsonSchema[]): boolean =>
  schemas.some(
    ({ properties, additionalProperties }) => properties !== undefined || typeof additionalProperties === 'object',
  );

const fieldOf = ({ properties, additionalProperties }: JsonSchema, name: string): JsonSchema[] => {
  const own = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own) return [own];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
};
