import { describe, expect, it } from '@jest/globals';
import { converted, WrongProp } from './convert.js';

describe('the value of a prop, by its type', () => {
  it.each<[type: string, value: unknown, result: unknown]>([
    ['string', 'a', 'a'],
    ['string', 5, '5'],
    ['string', false, 'false'],
    ['string', { a: 1 }, '{"a":1}'],
    ['string', [1, 'b'], '[1,"b"]'],
    ['integer', 2, 2],
    ['integer', ' -12 ', -12],
    ['boolean', true, true],
    ['boolean', 'false', false],
    ['object', { a: 1 }, { a: 1 }],
    ['object', '{"a":1}', { a: 1 }],
    ['http_request', '{"url":"u"}', { url: 'u' }],
    ['string[]', ['a', 1], ['a', '1']],
    ['integer[]', '[1,"2"]', [1, 2]],
    ['boolean[]', ['true', false], [true, false]],
    ['any', 'a', 'a'],
    ['any', null, null],
    ['any', { a: 1 }, { a: 1 }],
    ['$.discord.channel', 'a', 'a'],
  ])('%s of %j is %j', (type, value, result) => expect(converted({ name: 'p', type }, value)).toEqual(result));

  it.each<[type: string, value: unknown, path: string, message: string]>([
    ['integer', 'x', 'p', 'must be an integer, not "x"'],
    ['integer', 1.5, 'p', 'must be an integer, not 1.5'],
    ['integer', '1e3', 'p', 'must be an integer, not "1e3"'],
    ['integer', true, 'p', 'must be an integer, not true'],
    ['boolean', 'yes', 'p', 'must be a boolean, not "yes"'],
    ['boolean', 1, 'p', 'must be a boolean, not 1'],
    ['object', '[1]', 'p', 'must be an object, not "[1]"'],
    ['object', [1], 'p', 'must be an object, not a list'],
    ['object', 'x'.repeat(100), 'p', `must be an object, not "${'x'.repeat(59)}…`],
    ['string[]', 'a', 'p', 'must be a list of string, not "a"'],
    ['string[]', { a: 1 }, 'p', 'must be a list of string, not an object'],
    ['integer[]', [1, 'b'], 'p[1]', 'must be an integer, not "b"'],
    ['string[]', [null], 'p[0]', 'must be a string, not null'],
    ['string', undefined, 'p', 'is required and has no value: give it a string'],
    ['object', null, 'p', 'is required and has no value: give it an object'],
  ])('%s refuses %j', (type, value, path, message) => {
    let refused: unknown;
    try {
      converted({ name: 'p', type }, value);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(WrongProp);
    expect(refused).toMatchObject({ path, message });
  });

  it('is the default, or nothing, where none is given', () => {
    expect(converted({ name: 'p', type: 'integer', default: 7 }, undefined)).toBe(7);
    expect(converted({ name: 'p', type: 'integer', default: 7 }, null)).toBe(7);
    expect(converted({ name: 'p', type: 'integer', optional: true }, undefined)).toBeUndefined();
    expect(converted({ name: 'p', type: 'integer', optional: true }, null)).toBeUndefined();
  });
});
