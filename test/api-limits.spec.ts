import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** The description that a test of the server compares with what it serves (test/e2e/api-openapi.e2e-spec.ts). */
const DESCRIPTION = new URL('../docs/reference/openapi.json', import.meta.url);

/** Places below a schema that may be of any size. */
function* unlimited(place: string, schema: Schema): Generator<string> {
  const { type, properties, items, additionalProperties: others } = schema;
  if (schema.enum !== undefined || type === 'integer' || type === 'number' || type === 'boolean') return;
  if (type === 'array') {
    if (schema.maxItems === undefined) yield `${place}: elements`;
    yield* unlimited(`${place}[]`, items ?? {});
    return;
  }
  if (type !== 'object') {
    if (schema.maxLength === undefined) yield place;
    return;
  }
  if (properties) {
    for (const [name, each] of Object.entries(properties)) yield* unlimited(`${place}.${name}`, each);
    return;
  }
  if (schema.maxProperties === undefined) yield `${place}: keys`;
  if (schema.propertyNames?.maxLength === undefined) yield `${place}: length of a key`;
  if (typeof others !== 'object' || others.maxLength === undefined) yield `${place}: length of a value`;
}

// docs/reference/limits.md#parameter-texts
describe('the description of the API', () => {
  const { paths } = JSON.parse(readFileSync(DESCRIPTION, 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const schemas = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => [
      ...parameters.map((each) => [`${method} ${path} ${each.in} ${each.name}`, each.schema] as const),
      ...Object.values(requestBody?.content ?? {}).map(({ schema }) => [`${method} ${path} body`, schema] as const),
    ]),
  );

  it('gives each text, list and object that a route reads a limit', () => {
    expect(schemas.length).toBeGreaterThan(400);
    expect(schemas.flatMap(([place, schema]) => [...unlimited(place, schema)])).toEqual([]);
  });

  it('would show a field without one', () => {
    const any = { type: 'object', additionalProperties: true };
    const open: Schema = { type: 'object', properties: { a: { type: 'string' }, b: any, c: { type: 'array' }, d: {} } };
    expect([...unlimited('body', open)]).toEqual([
      'body.a',
      'body.b: keys',
      'body.b: length of a key',
      'body.b: length of a value',
      'body.c: elements',
      'body.c[]',
      'body.d',
    ]);
  });
});
