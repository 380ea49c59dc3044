import { describe, expect, it } from '@jest/globals';
import { type EmitProgress } from './lane-state.js';
import { HEARD_LIMIT, HeardEmits, type HeardPlace, heardPlaceOf } from './heard-emits.js';
import { invocationHeaders } from './source/testing/source-world.js';

const MS = 1_700_000_000_000;
const positionOf = (n: number): string => `00${MS + n}-0000000000`;
const place = (n: number, key = 'dc_a/sub_1'): HeardPlace => ({ key, position: positionOf(n) });
/** Counts these as done by one commit. Returns the stored changes. */
const committed = (heard: HeardEmits, places: readonly HeardPlace[]): Readonly<Record<string, EmitProgress | null>> => {
  const changes = heard.changesAfter(places);
  heard.stored(places, changes);
  return changes;
};
const emitOf = (over: Readonly<Record<string, string>>) =>
  heardPlaceOf(
    invocationHeaders('inv_1', { kind: 'emit', emitter: 'dc_a', subscription: 'sub_1', event: `${MS}-7`, ...over }),
  );

describe('the place of an invocation among those that it follows', () => {
  it('is emitter, subscription and the order of event ids', () => {
    expect(emitOf({})).toEqual({ key: 'dc_a/sub_1', position: `00${MS}-0000000007` });
    expect(emitOf({ subscription: 'sub_2' })?.key).toBe('dc_a/sub_2');
    expect((emitOf({ event: `${MS}-10` })?.position ?? '') > (emitOf({ event: `${MS}-9` })?.position ?? '')).toBe(true);
  });

  it.each<[string, Record<string, string>]>([
    ['an error event of the router, whose id runs ahead of the emitter’s', { event: `${MS}-1000007` }],
    ['a tick', { kind: 'timer' }],
    ['an event that has waited', { kind: 'delayed' }],
    ['an id that is none', { event: 'x' }],
  ])('is not known of %s', (_, over) => {
    expect(emitOf(over)).toBeUndefined();
  });
});

describe('the emits that a source has heard', () => {
  it('are done up to what is in flight, and beyond it one by one', () => {
    const heard = new HeardEmits({});
    for (const n of [1, 2, 3, 5]) heard.admit(place(n));
    expect(committed(heard, [place(3), place(1)])).toEqual({
      'dc_a/sub_1': { through: positionOf(1), above: [positionOf(3)] },
    });
    expect([1, 2, 3, 4, 5].map((n) => heard.isDone(place(n)))).toEqual([true, false, true, false, false]);
    expect(committed(heard, [place(2), place(2)])).toEqual({ 'dc_a/sub_1': { through: positionOf(3), above: [] } });
  });

  it('end in any order of ten at once, and a crash at any moment repeats what had not ended, and nothing else', () => {
    const order = [7, 3, 9, 0, 5, 1, 8, 2, 6, 4];
    for (let crashAfter = 0; crashAfter <= order.length; crashAfter++) {
      const heard = new HeardEmits({});
      for (const n of order.keys()) heard.admit(place(n));
      const ended = order.slice(0, crashAfter);
      const places = ended.map((n) => place(n));
      const stored = committed(heard, places);
      const after = new HeardEmits(JSON.parse(JSON.stringify(stored)) as Record<string, never>);
      for (const n of order.keys()) expect(after.isDone(place(n))).toBe(ended.includes(n));
      for (const n of order.slice(crashAfter).sort()) after.admit(place(n));
      after.admit(place(10));
      const rest = order.slice(crashAfter).map((n) => place(n));
      committed(after, rest);
      for (const n of order.keys()) expect(after.isDone(place(n))).toBe(true);
      expect(after.isDone(place(10))).toBe(false);
    }
  });

  it('are those of one subscription: another may pass the same emit, later', () => {
    const heard = new HeardEmits({ 'dc_a/sub_1': { through: positionOf(9), above: [] } });
    expect([place(5), place(5, 'dc_a/sub_2'), place(5, 'dc_b/sub_1')].map((each) => heard.isDone(each))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('count one that was recognised by its id as done, also beyond what is in flight', () => {
    const heard = new HeardEmits({});
    heard.admit(place(1));
    expect(committed(heard, [place(4)])).toEqual({ 'dc_a/sub_1': { through: '', above: [positionOf(4)] } });
    expect(committed(heard, [place(1), place(6)])).toEqual({ 'dc_a/sub_1': { through: positionOf(6), above: [] } });
  });

  it('are forgotten of the longest unheard emitters beyond the limit, but not while any is in flight', () => {
    const heard = new HeardEmits({});
    const keys = Array.from({ length: HEARD_LIMIT + 3 }, (_, n) => `dc_${n}/sub_1`);
    for (const key of keys) heard.admit(place(1, key));
    const done = (some: readonly string[]): HeardPlace[] => some.map((key) => place(1, key));
    expect(Object.values(committed(heard, done(keys.slice(HEARD_LIMIT))))).not.toContain(null);
    const first = committed(heard, [...done(keys.slice(1, HEARD_LIMIT)), place(2, 'dc_1/sub_1')]);
    expect(Object.values(first).filter((progress) => progress === null)).toHaveLength(3);
    const changed = committed(heard, [place(2, 'dc_1/sub_1')]);
    expect(changed).toEqual({ 'dc_1/sub_1': { through: positionOf(2), above: [] } });
  });

  it('are remembered over a restart, the longest unheard first to go', () => {
    const stored = Object.fromEntries(
      Array.from({ length: HEARD_LIMIT }, (_, n) => [
        `dc_${n}/s`,
        { through: positionOf((n * 7) % HEARD_LIMIT), above: [] },
      ]),
    );
    const heard = new HeardEmits(stored);
    heard.admit(place(HEARD_LIMIT, 'dc_new/s'));
    const changed = committed(heard, [place(HEARD_LIMIT, 'dc_new/s')]);
    const oldest = Object.entries(stored).find(([, { through }]) => through === positionOf(0))?.[0] ?? '';
    expect(changed).toEqual({ 'dc_new/s': { through: positionOf(HEARD_LIMIT), above: [] }, [oldest]: null });
  });

  it('are not done by a commit that was refused, and a smaller one stores what it holds and no more', () => {
    const heard = new HeardEmits({});
    for (const n of [1, 2]) heard.admit(place(n));
    heard.changesAfter([place(1), place(2)]);
    expect([1, 2].map((n) => heard.isDone(place(n)))).toEqual([false, false]);
    expect(committed(heard, [place(1)])).toEqual({ 'dc_a/sub_1': { through: positionOf(1), above: [] } });
    expect(heard.isDone(place(2))).toBe(false);
  });
});
