import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { checkedFilter } from './filter.js';

const refusal = (given: unknown): DomainError => {
  try {
    checkedFilter(given);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('it was accepted');
};
const nested = (depth: number): object => (depth === 0 ? { a: 1 } : { $not: nested(depth - 1) });

describe('a filter from outside', () => {
  it('may be an object or JSON text; nothing leaves, null and an empty text take it away', () => {
    expect(checkedFilter({ a: 1 })).toEqual({ a: 1 });
    expect(checkedFilter('{"a.b":{"gt":1,"exists":true}}')).toEqual({ 'a.b': { gt: 1, exists: true } });
    expect(checkedFilter(undefined)).toBeUndefined();
    expect([checkedFilter(null), checkedFilter('')]).toEqual([null, null]);
    expect(
      checkedFilter({ $any: [{ a: null }, { $all: [{ b: { in: [1, 'x', null] } }] }], $not: { c: true } }),
    ).toBeTruthy();
  });

  it.each<[given: unknown, field: string, text: RegExp]>([
    ['{', 'filter', /not valid JSON/],
    [[], 'filter', /must be an object.*a list/],
    [5, 'filter', /a number/],
    [{}, 'filter', /is empty/],
    [{ '': 1 }, 'filter.', /no path/],
    [{ $or: [] }, 'filter.$or', /no path/],
    [{ $any: [] }, 'filter.$any', /at least one/],
    [{ $any: { a: 1 } }, 'filter.$any', /list/],
    [{ $any: [{ a: 1 }, 5] }, 'filter.$any[1]', /object/],
    [{ $not: [] }, 'filter.$not', /object/],
    [{ a: [1] }, 'filter.a', /a list/],
    [{ a: {} }, 'filter.a', /one of the tests eq, ne, in/],
    [{ a: { greater: 1 } }, 'filter.a.greater', /no test; the tests are eq/],
    [{ a: { gt: true } }, 'filter.a.gt', /number or a text/],
    [{ a: { in: 'x' } }, 'filter.a.in', /list/],
    [{ a: { in: [{}] } }, 'filter.a.in', /list/],
    [{ a: { eq: {} } }, 'filter.a.eq', /text, number/],
    [{ a: { exists: 'yes' } }, 'filter.a.exists', /true or false/],
    [{ a: { contains: null } }, 'filter.a.contains', /text or number/],
    [nested(4), 'filter.$not.$not.$not.$not', /more than 4 deep/],
    [Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`a${i}`, i])), 'filter', /more than 50 tests/],
    [{ a: 'x'.repeat(4_100) }, 'filter', /bytes as JSON, the limit is 4096/],
    ['x'.repeat(20_000), 'filter', /20000 characters/],
  ])('is refused: %#', (given, field, text) => {
    const error = refusal(given);
    expect(error.code).toBe('subscription.invalid_filter');
    expect(error.message).toMatch(text);
    expect(error.details).toMatchObject({ field });
  });
});
