import { describe, expect, it } from '@jest/globals';
import { derivedId, eventIdOf, isIdOf, newCommandId, newId, randomKey, shownId } from './ids.js';

describe('ids', () => {
  it('carry their prefix, sort by creation and do not repeat', () => {
    const ids = Array.from({ length: 1000 }, (_, i) => newId('dc', 1_700_000_000_000 + i));
    expect(ids.every((id) => /^dc_[0-9a-z]{18}$/.test(id))).toBe(true);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(Array.from({ length: 1000 }, () => newId('dc', 1))).size).toBe(1000);
  });

  it('sort by creation over all years in which they are used', () => {
    expect(
      newId('u', 1) < newId('u', Date.UTC(2026, 0)) && newId('u', Date.UTC(2026, 0)) < newId('u', Date.UTC(2400, 0)),
    ).toBe(true);
  });

  it('are equal when derived from the same parts, and differ when the parts are split differently', () => {
    expect(derivedId('sub', 'o_1', 'dc_1', '')).toBe(derivedId('sub', 'o_1', 'dc_1', ''));
    expect(derivedId('sub', 'ab', 'c')).not.toBe(derivedId('sub', 'a', 'bc'));
    expect(derivedId('sub', 'a')).toMatch(/^sub_[0-9a-z]{18}$/);
  });

  it('of events derive from command, stream and index', () => {
    expect(eventIdOf('cmd-1', 'a-1', 0)).toBe(eventIdOf('cmd-1', 'a-1', 0));
    expect(new Set([eventIdOf('c', 'a-1', 0), eventIdOf('c', 'a-1', 1), eventIdOf('c', 'a-2', 0)]).size).toBe(3);
    expect(newCommandId()).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('from outside are not looked up unless they are of the right kind, short and plain', () => {
    expect(isIdOf('dc', newId('dc', 1))).toBe(true);
    expect(isIdOf('dc', 'dc_some-other_1')).toBe(true);
    for (const text of [
      '',
      'dc',
      'dc\0',
      'dc_\0',
      'dc_a\0b',
      'dc_a/b',
      'dc_\ud800',
      'wh_a',
      'dc_a\n',
      `dc_${'a'.repeat(198)}`,
    ]) {
      expect({ text, is: isIdOf('dc', text) }).toEqual({ text, is: false });
    }
    expect(shownId('x'.repeat(5000)).length).toBeLessThan(130);
  });

  it('keys have the requested length', () => {
    expect(randomKey(15)).toMatch(/^[0-9a-z]{15}$/);
  });
});
