import { describe, expect, it } from '@jest/globals';
import { type EventFilter } from '#libs/subscriptions/published.js';
import { examiner, MAX_EXAMINED_CHARS, passes } from './event-filter.js';

const EVENT = {
  type: 'order',
  total: 120,
  paid: true,
  note: null,
  tags: ['new', 'eu', 7],
  body: { customer: { name: 'Ada' }, items: [{ id: 1 }, { id: 2 }] },
  'a.b': { 'c\\d': 1 },
};

describe('a filter', () => {
  it.each<[filter: EventFilter, does: boolean]>([
    [{ type: 'order' }, true],
    [{ type: 'Order' }, false],
    [{ type: 'order', total: 121 }, false],
    [{ paid: true, note: null }, true],
    [{ total: '120' }, false],
    [{ missing: null }, false],
    [{ type: { eq: 'order' }, total: { ne: 121 } }, true],
    [{ missing: { ne: 1 } }, true],
    [{ total: { gt: 119, lte: 120 } }, true],
    [{ total: { gt: 120 } }, false],
    [{ total: { gte: 120, lt: 121 } }, true],
    [{ total: { gt: '1' } }, false],
    [{ type: { gte: 'o', lt: 'p' } }, true],
    [{ missing: { lt: 5 } }, false],
    [{ type: { in: ['order', 'refund'] } }, true],
    [{ type: { not_in: ['order'] } }, false],
    [{ missing: { not_in: ['order'] } }, true],
    [{ note: { exists: true } }, true],
    [{ missing: { exists: false } }, true],
    [{ type: { contains: 'rde' } }, true],
    [{ tags: { contains: 'eu' } }, true],
    [{ tags: { contains: 7 } }, true],
    [{ tags: { contains: '7' } }, false],
    [{ total: { contains: '2' } }, false],
    [{ type: { starts_with: 'or', ends_with: 'er' } }, true],
    [{ total: { starts_with: '1' } }, false],
    [{ 'body.customer.name': 'Ada' }, true],
    [{ 'body.items.1.id': 2 }, true],
    [{ 'body.items.length': { exists: true } }, true],
    [{ 'a\\.b.c\\\\d': 1 }, true],
    [{ 'a.b.c': { exists: true } }, false],
    [{ 'body.constructor': { exists: true } }, false],
    [{ __proto__x: { exists: true } }, false],
    [{ 'type.length': { exists: true } }, false],
    [{ $any: [{ type: 'refund' }, { total: 120 }] }, true],
    [{ $any: [{ type: 'refund' }] }, false],
    [{ $all: [{ type: 'order' }, { paid: true }] }, true],
    [{ $not: { type: 'refund' } }, true],
    [{ type: 'order', $not: { $any: [{ paid: true }] } }, false],
  ])('%j lets the event pass: %s', (filter, does) => expect(passes(filter, EVENT)).toBe(does));

  it.each([null, 5, 'text', [1]])('finds no path in %j', (event) => {
    expect(passes({ a: { exists: true } }, event)).toBe(false);
    expect(passes({ a: { exists: false } }, event)).toBe(true);
  });

  it('may look into a list at the top', () => expect(passes({ '0.a': 1 }, [{ a: 1 }])).toBe(true));
});

describe('the examiner of an event', () => {
  it('reads its JSON once, and only for a filter', () => {
    const isWanted = examiner('not JSON');
    expect(isWanted(undefined)).toBe(true);
    expect(examiner('{"a":1}')({ a: 1 })).toBe(true);
    expect(examiner('{"a":1}')({ a: 2 })).toBe(false);
  });

  it('passes on what is too large to look at', () => {
    const large = JSON.stringify({ a: 'x'.repeat(MAX_EXAMINED_CHARS) });
    expect(examiner(large)({ a: 1 })).toBe(true);
  });
});
