import { FIELDS, LISTED, WORKSPACE } from './common-parameters.js';
import { type JsonSchema, schemaOf } from './json-schema.js';
import { OPERATION, type OperationInfo } from './operation.js';
import { limited } from './parameter-limits.js';

const known = new WeakMap<object, ReadonlyMap<string, JsonSchema>>();

/**
 * All parameters that a route reads with their limits, its own first. `method` is the route's method with the metadata
 * of `@Operation`; the result is undefined without such metadata.
 */
export const declaredParameters = (method: object): ReadonlyMap<string, JsonSchema> | undefined => {
  const before = known.get(method);
  if (before) return before;
  const info = Reflect.getMetadata(OPERATION, method) as OperationInfo | undefined;
  if (!info) return undefined;
  const schemas = schemasOf(info);
  known.set(method, schemas);
  return schemas;
};

const schemasOf = ({ query, body, objects, also, paged, reply }: OperationInfo): ReadonlyMap<string, JsonSchema> =>
  new Map([
    ...[query, body].flatMap((dto) => (dto ? Object.entries(schemaOf(dto).properties ?? {}) : [])),
    ...Object.entries(objects ?? {}).map(([name, text]) => [name, objectSchema(name, text)] as const),
    ...Object.entries({
      ...also,
      ...(paged === true ? LISTED : {}),
      ...WORKSPACE,
      ...(reply ? FIELDS : {}),
    }).map(([name]) => [name, textSchema(name)] as const),
  ]);

/** Schema of an object in a body that no class describes. */
export const objectSchema = (name: string, description: string): JsonSchema => ({
  ...limited(name, { type: 'object' }),
  description,
});

/** Schema of a text in a query that no class describes. */
export const textSchema = (name: string): JsonSchema =>
  name === 'limit' ? { type: 'integer' } : limited(name, { type: 'string' });
