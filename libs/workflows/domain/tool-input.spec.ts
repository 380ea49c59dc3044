import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ANY_INPUT, inputFaults, MAX_INPUT_BYTES, MAX_INPUT_LEVELS } from './tool-input.js';

const wrong = (property: Readonly<Record<string, unknown>>) =>
  inputFaults({ type: 'object', properties: { x: property } }).map(
    ({ path, message }) => `${path.join('.')} ${message}`,
  );

describe('input of a tool', () => {
  it('may be any schema of an object', () => {
    const input = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        a: { type: ['string', 'null'], minLength: 0, maxLength: 5, pattern: '^(a+)+$', format: 'email' },
        b: { type: 'array', items: { anyOf: [{ enum: [1] }, { const: 2 }] }, minItems: 1, maxItems: 2 },
        c: { oneOf: [{ minimum: 1, exclusiveMaximum: 2.5 }], allOf: [{ $ref: '#' }] },
        d: { items: true, additionalProperties: false, patternProperties: { '^x': true } },
      },
      required: ['a'],
      additionalProperties: { type: 'integer' },
    };
    expect(new Ajv2020({ strict: false }).validateSchema(input)).toBe(true);
    expect(inputFaults(input)).toEqual([]);
    expect(inputFaults(ANY_INPUT)).toEqual([]);
  });

  it.each([null, true, [], 'x', undefined])('is no %j', (input) => {
    expect(inputFaults(input)).toEqual([{ path: [], code: 'type', message: 'must be a JSON Schema, as an object' }]);
  });

  it.each([{}, { type: 'string' }, { type: ['object'] }, { type: 7 }])('is of type object, unlike %j', (input) => {
    expect(inputFaults(input)).toEqual([
      { path: ['type'], code: 'enum', message: 'must be "object", because the arguments of a tool are one' },
    ]);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ type: 'text' }, 'type must be one of string, number, integer, boolean, object, array, null, or a list of them'],
    [{ type: [] }, 'type must be one of string, number, integer, boolean, object, array, null, or a list of them'],
    [{ properties: [] }, 'properties must be an object of schemas, each an object'],
    [{ properties: { y: true } }, 'properties must be an object of schemas, each an object'],
    [{ required: 'y' }, 'required must be a list of texts'],
    [{ required: [1] }, 'required must be a list of texts'],
    [{ enum: [] }, 'enum must be a list of at least one value'],
    [{ items: [{}] }, 'items must be a schema, true or false'],
    [{ additionalProperties: 'no' }, 'additionalProperties must be a schema, true or false'],
    [{ anyOf: [] }, 'anyOf must be a list of at least one schema'],
    [{ oneOf: {} }, 'oneOf must be a list of at least one schema'],
    [{ allOf: [true] }, 'allOf must be a list of at least one schema'],
    [{ minimum: '1' }, 'minimum must be a number'],
    [{ exclusiveMinimum: true }, 'exclusiveMinimum must be a number'],
    [{ minLength: -1 }, 'minLength must be an integer of at least 0'],
    [{ maxItems: 1.5 }, 'maxItems must be an integer of at least 0'],
    [{ items: { minItems: null } }, 'items.minItems must be an integer of at least 0'],
    [
      { anyOf: [{}, { type: 'x' }] },
      `anyOf.1.type must be one of ${'string, number, integer, boolean, object, array, null'}, or a list of them`,
    ],
    [{ additionalProperties: { enum: 1 } }, 'additionalProperties.enum must be a list of at least one value'],
  ])('has no %j', (property, text) => {
    expect(wrong(property)).toEqual([`properties.x.${text}`]);
  });

  it('has a number of levels at most', () => {
    const nested = (levels: number): Record<string, unknown> =>
      levels === 1 ? { type: 'object' } : { type: 'object', properties: { x: nested(levels - 1) } };
    expect(inputFaults(nested(MAX_INPUT_LEVELS))).toEqual([]);
    expect(inputFaults(nested(MAX_INPUT_LEVELS + 1))).toMatchObject([
      { message: `is nested too deep; ${MAX_INPUT_LEVELS} levels of schemas are the limit` },
    ]);
  });

  it('has a number of bytes at most', () => {
    const rest = JSON.stringify({ type: 'object', title: '' }).length;
    expect(inputFaults({ type: 'object', title: 'x'.repeat(MAX_INPUT_BYTES - rest) })).toEqual([]);
    expect(inputFaults({ type: 'object', title: 'x'.repeat(MAX_INPUT_BYTES - rest + 1) })).toEqual([
      {
        path: [],
        code: 'range',
        message: `has ${MAX_INPUT_BYTES + 1} bytes as JSON; ${MAX_INPUT_BYTES} are the limit`,
      },
    ]);
  });

  it('has some faults told of many', () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'x' }]));
    expect(inputFaults({ type: 'object', properties }).length).toBe(20);
  });
});
