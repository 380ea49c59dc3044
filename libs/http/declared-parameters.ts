import { FIELDS, LISTED, WORKSPACE } from './common-parameters.js';
import { schemaOf } from './json-schema.js';
import { OPERATION, type OperationInfo } from './operation.js';

const known = new WeakMap<object, readonly string[]>();

/**
 * Names of all parameters that a route reads, those of its own first. `method` is the route's method, which carries the
 * metadata of `@Operation`; the result is undefined when it has none.
 */
export const declaredParameters = (method: object): readonly string[] | undefined => {
  const before = known.get(method);
  if (before) return before;
  const info = Reflect.getMetadata(OPERATION, method) as OperationInfo | undefined;
  if (!info) return undefined;
  const names = namesOf(info);
  known.set(method, names);
  return names;
};

const namesOf = ({ query, body, objects, also, paged, reply }: OperationInfo): readonly string[] => [
  ...new Set([
    ...[query, body].flatMap((dto) => (dto ? Object.keys(schemaOf(dto).properties ?? {}) : [])),
    ...Object.keys(objects ?? {}),
    ...Object.keys(also ?? {}),
    ...(paged === true ? Object.keys(LISTED) : []),
    ...Object.keys(WORKSPACE),
    ...(reply ? Object.keys(FIELDS) : []),
  ]),
];
