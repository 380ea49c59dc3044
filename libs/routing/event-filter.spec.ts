import { describe, expect, it } from '@jest/globals';
import { type EventFilter } from '#libs/subscriptions/published.js';
import { Turns } from '#libs/async/turns.js';
import { Examination, MAX_EXAMINED_CHARS, passing, type Work } from './event-filter.js';

const UNLIMITED: Work = { isOver: false, spend: () => undefined };

const passes = (filter: EventFilter, event: unknown): boolean =>
  passing(filter, event, UNLIMITED).next().value === true;

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

describe('the examination of an event', () => {
  const examined = (value: string, filter?: EventFilter): boolean | undefined => new Examination(value).passes(filter);

  it('reads its JSON only for a filter', () => {
    expect(examined('not JSON')).toBe(true);
    expect(examined('{"a":1}', { a: 1 })).toBe(true);
    expect(examined('{"a":1}', { a: 2 })).toBe(false);
    expect(() => examined('not JSON', { a: 1 })).toThrow(SyntaxError);
  });

  it('passes on an event that is too large to examine', () => {
    expect(examined(JSON.stringify({ a: 'x'.repeat(MAX_EXAMINED_CHARS) }), { a: 1 })).toBe(true);
  });

  // docs/reference/limits.md#filter-work
  it('continues in later turns where it stopped when the budget of a turn is spent', async () => {
    const value = JSON.stringify({ x: 'a'.repeat(1_000) });
    const turns = new Turns(1_500);
    const examination = new Examination(value, turns);
    const filter: EventFilter = { $not: { $any: [1, 2, 3, 4, 5].map((n) => ({ x: { contains: `b${n}` } })) } };
    let later = 0;
    for (; examination.passes(filter) === undefined; later++) await examination.later('o_1');
    expect(examination.passes(filter)).toBe(true);
    // The text of 1,000 is read once and searched five times. A turn ends with the piece that exceeds its budget.
    expect(later).toBe(2);
  });

  it('shares the turn with all other events, and keeps what it has found', async () => {
    const turns = new Turns(100);
    const value = JSON.stringify({ x: 'a'.repeat(200) });
    const [one, other] = [new Examination(value, turns), new Examination(value, turns)];
    const [wanted, unwanted]: EventFilter[] = [{ x: { exists: true } }, { x: { exists: false } }];
    expect(one.passes({ x: { exists: true } })).toBeUndefined();
    expect(other.passes(wanted)).toBeUndefined();
    await other.later('o_1');
    expect(other.passes(wanted)).toBeUndefined();
    await other.later('o_1');
    expect(other.passes(wanted)).toBe(true);
    expect(other.passes(unwanted)).toBe(false);
  });
});
