import { describe, expect, it } from '@jest/globals';
import { differences, type CheckedSchema } from './schema-check.js';

const named: Record<string, CheckedSchema> = {
  Item: {
    type: 'object',
    required: ['id', 'note'],
    properties: {
      id: { type: 'string' },
      note: { type: ['string', 'null'] },
      count: { type: 'integer' },
      kind: { type: 'string', enum: ['a', 'b'] },
      any: {},
      open: { type: 'object', additionalProperties: true },
      counts: { type: 'object', additionalProperties: { type: 'number' } },
      either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    },
  },
};
const list: CheckedSchema = { type: 'array', items: { $ref: '#/components/schemas/Item' } };
const check = (item: unknown): string[] => differences(list, [item], named);

describe('differences from a schema', () => {
  it('are none in a value that has the fields of the schema', () => {
    expect(check({ id: 'x', note: null })).toEqual([]);
    const all = {
      id: 'x',
      note: 'n',
      count: 1,
      kind: 'a',
      any: [null],
      open: { a: 1 },
      counts: { b: 1.5 },
      either: 'e',
    };
    expect(check(all)).toEqual([]);
    expect(differences({ type: 'object' }, {}, named)).toEqual([]);
  });

  it.each([
    ['a missing field', { id: 'x' }, '$[0].note is missing'],
    ['a field too many', { id: 'x', note: null, extra: 1 }, '$[0].extra is not in the schema'],
    ['a field that every object inherits', { id: 'x', note: null, toString: 1 }, '$[0].toString is not in the schema'],
    ['another type', { id: 1, note: null }, '$[0].id is number, not string'],
    ['none of two types', { id: 'x', note: 1 }, '$[0].note is number, not string or null'],
    ['null', { id: null, note: null }, '$[0].id is null, not string'],
    ['a fraction', { id: 'x', note: null, count: 1.5 }, '$[0].count is number, not integer'],
    ['a list for an object', { id: 'x', note: null, open: [] }, '$[0].open is array, not object'],
    ['another word', { id: 'x', note: null, kind: 'c' }, '$[0].kind is "c", not in the enum'],
    ['another value of a map', { id: 'x', note: null, counts: { a: '1' } }, '$[0].counts.a is string, not number'],
    [
      'none of several',
      { id: 'x', note: null, either: true },
      '$[0].either matches none of anyOf: $[0].either is boolean, not integer; $[0].either is boolean, not string',
    ],
    ['no object', 'x', '$[0] is string, not object'],
  ])('name %s', (_, item, difference) => {
    expect(check(item)).toEqual([difference]);
  });

  it('cannot be found with an unknown keyword or reference', () => {
    const unknown: Record<string, unknown> = { type: 'string', pattern: 'x' };
    expect(() => differences(unknown, 'x', named)).toThrow('schema of $ has keywords that are not checked: pattern');
    const nowhere = { $ref: '#/components/schemas/Other' };
    expect(() => differences(nowhere, 'x', named)).toThrow('#/components/schemas/Other is not in the document');
  });
});
