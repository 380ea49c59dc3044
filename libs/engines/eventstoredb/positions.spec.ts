import { describe, expect, it } from '@jest/globals';
import { isPosition, START } from '#libs/kernel/events.js';
import { logPositionOf, textOf } from './positions.js';

describe('positions of EventStoreDB', () => {
  it('compare as text like numbers, whatever their digits', () => {
    const places = [0n, 9n, 10n, 99n, 100n, 999_999_999_999n, 1_000_000_000_000n, 2n ** 63n - 1n];
    const log = places.flatMap((commit) =>
      places.filter((prepare) => prepare <= commit).map((prepare) => ({ commit, prepare })),
    );
    const texts = log.map(textOf);
    expect([...texts].sort()).toEqual(texts);
    for (const text of texts) {
      expect(isPosition(text)).toBe(true);
      expect(text > START).toBe(true);
    }
  });

  it('survive the round trip to text', () => {
    const position = { commit: 1234n, prepare: 1200n };
    expect(logPositionOf(textOf(position))).toEqual(position);
    expect(logPositionOf(START)).toBe('start');
  });

  it.each(['00000000000000000007', '7-7', 'nonsense'])('refuse %s, which belongs to another engine or none', (text) => {
    expect(() => logPositionOf(text)).toThrow(`position ${text} is not one of EventStoreDB`);
  });
});
