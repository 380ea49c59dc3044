import { describe, expect, it } from '@jest/globals';
import { argumentFaults, MAX_COMPARISONS } from './check-arguments.js';

const faults = (property: Readonly<Record<string, unknown>>, value: unknown): readonly string[] =>
  argumentFaults({ type: 'object', properties: { x: property } }, { x: value });

describe('arguments of a workflow', () => {
  it.each<[Record<string, unknown>, unknown]>([
    [{}, 1],
    [{ type: 'string' }, ''],
    [{ type: 'number' }, 1.5],
    [{ type: 'integer' }, 2],
    [{ type: 'integer' }, 2.0],
    [{ type: 'boolean' }, false],
    [{ type: 'object' }, {}],
    [{ type: 'array' }, []],
    [{ type: 'null' }, null],
    [{ type: ['string', 'null'] }, null],
    [{ enum: ['a', { b: [1, 2] }] }, { b: [1, 2] }],
    [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }],
    [{ minLength: 2, maxLength: 2 }, '😀😀'],
    [{ minimum: 1, maximum: 1 }, 1],
    [{ exclusiveMinimum: 0, exclusiveMaximum: 2 }, 1],
    [{ minItems: 1, maxItems: 2, items: { type: 'integer' } }, [1, 2]],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 1],
    [{ oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }, 'a'],
    [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2],
    [{ additionalProperties: { type: 'integer' } }, { a: 1 }],
    [{ additionalProperties: false, patternProperties: { '^x-': {} } }, { 'x-a': 1 }],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'integer' } }, ['a', 1]],
    // Not checked here.
    [{ pattern: '^a$' }, 'b'],
    [{ format: 'email' }, 'b'],
    [{ $ref: '#' }, 1],
    [{ not: {} }, 1],
    [{ multipleOf: 2 }, 3],
  ])('fit: %j has %j', (schema, value) => {
    expect(faults(schema, value)).toEqual([]);
  });

  it.each<[Record<string, unknown>, unknown, string]>([
    [{ type: 'string' }, 5, 'must be a string; got 5'],
    [{ type: 'integer' }, 1.5, 'must be an integer; got 1.5'],
    [{ type: 'integer' }, '1', 'must be an integer; got "1"'],
    [{ type: 'number' }, null, 'must be a number; got null'],
    [{ type: 'object' }, [1], 'must be an object; got an array of 1'],
    [{ type: 'array' }, {}, 'must be an array; got an object'],
    [{ type: ['string', 'null'] }, 1, 'must be a string or null; got 1'],
    [{ enum: ['a', 'b'] }, 'c', 'must be one of "a", "b"; got "c"'],
    [{ const: 1 }, 2, 'must be 1; got 2'],
    [{ const: null }, 2, 'must be null; got 2'],
    [{ minLength: 3 }, '😀😀', 'must have at least 3 characters; got 2'],
    [{ maxLength: 1 }, 'ab', 'must have at most 1 characters; got 2'],
    [{ minimum: 1 }, 0, 'must be at least 1; got 0'],
    [{ maximum: 1 }, 2, 'must be at most 1; got 2'],
    [{ exclusiveMinimum: 1 }, 1, 'must be more than 1; got 1'],
    [{ exclusiveMaximum: 1 }, 1, 'must be less than 1; got 1'],
    [{ minItems: 1 }, [], 'must have at least 1 items; got 0'],
    [{ maxItems: 1 }, [1, 2], 'must have at most 1 items; got 2'],
    [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, 1, 'fits none of the 2 forms that are allowed; got 1'],
    [{ oneOf: [{ type: 'string' }] }, 1, 'fits none of the 1 forms that are allowed; got 1'],
    [{ allOf: [{ minimum: 1 }, { minimum: 2 }] }, 1, 'must be at least 2; got 1'],
  ])('do not fit: %j has %j', (schema, value, text) => {
    expect(faults(schema, value)).toEqual([`arguments.x: ${text}`]);
  });

  it('are told by their place', () => {
    const schema = {
      type: 'object',
      properties: {
        orders: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'integer' } },
            required: ['id'],
            additionalProperties: false,
          },
        },
      },
      required: ['orders', 'since'],
      additionalProperties: { type: 'string' },
    };
    expect(argumentFaults(schema, { orders: [{ id: 1 }, {}, { id: 'x', more: 1 }], other: 1 })).toEqual([
      'arguments.since: is required',
      'arguments.orders[1].id: is required',
      'arguments.orders[2].id: must be an integer; got "x"',
      'arguments.orders[2].more: is unknown',
      'arguments.other: must be a string; got 1',
    ]);
  });

  it('must be an object', () => {
    expect(argumentFaults({ type: 'object' }, [])).toEqual(['arguments: must be an object; got an array of 0']);
  });

  it('do not get a property from every object', () => {
    expect(argumentFaults({ type: 'object', required: ['constructor'] }, {})).toEqual([
      'arguments.constructor: is required',
    ]);
    expect(argumentFaults({ type: 'object', properties: {}, additionalProperties: false }, { toString: 1 })).toEqual([
      'arguments.toString: is unknown',
    ]);
  });

  it('have five faults told of many, in texts of a bounded length', () => {
    const given = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}${'k'.repeat(5_000)}`, 1]));
    const texts = argumentFaults({ type: 'object', additionalProperties: false }, given);
    expect(texts.length).toBe(5);
    expect(texts.every((text) => text.length < 200)).toBe(true);
  });

  it('are compared a bounded number of times', () => {
    const spent = [`arguments: have too many values to be checked; ${MAX_COMPARISONS} comparisons are the limit`];
    expect(
      faults(
        { items: {} },
        Array.from({ length: MAX_COMPARISONS }, () => 1),
      ),
    ).toEqual(spent);

    const forms = Array.from({ length: 500 }, () => ({ items: { type: 'object' } }));
    expect(
      faults(
        { allOf: forms },
        Array.from({ length: 10_000 }, () => ({})),
      ),
    ).toEqual(spent);

    const long = 'x'.repeat(1_000_000);
    expect(faults({ maxLength: long.length }, long)).toEqual([]);
    expect(faults({ allOf: Array.from({ length: 2_000 }, () => ({ minLength: 1 })) }, long)).toEqual(spent);
  });

  it('are compared with many choices in little time', () => {
    const large = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]));
    const began = performance.now();
    expect(faults({ enum: Array.from({ length: 10_000 }, () => ({ a: {} })) }, { a: large }).length).toBe(1);
    // A walk through the large value for each choice takes minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
