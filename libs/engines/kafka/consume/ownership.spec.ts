import { describe, expect, it } from '@jest/globals';
import { ownerOf } from './ownership.js';

const lanes = Array.from({ length: 3_000 }, (_, n) => `emits.dc_${n.toString(36)}`);
const members = ['router-1', 'router-2', 'router-3', 'router-4'];
const owners = (of: readonly string[]) => new Map(lanes.map((lane) => [lane, ownerOf(lane, of)]));

describe('ownerOf', () => {
  it('is the same for every caller, in whatever order the members are listed', () => {
    expect(owners([...members].reverse())).toEqual(owners(members));
  });

  it('gives each member about its share', () => {
    const all = [...owners(members).values()];
    for (const member of members) {
      const share = all.filter((owner) => owner === member).length / lanes.length;
      expect(share).toBeGreaterThan(0.2);
      expect(share).toBeLessThan(0.3);
    }
  });

  it('moves only the lanes of a leaving member, and only to a joining one', () => {
    const before = owners(members);
    const without = owners(members.slice(1));
    for (const [lane, owner] of before) if (owner !== 'router-1') expect(without.get(lane)).toBe(owner);
    for (const [lane, owner] of owners([...members, 'router-5'])) {
      if (owner !== 'router-5') expect(owner).toBe(before.get(lane));
    }
  });

  it('is undefined without members', () => {
    expect(ownerOf('emits.dc_1', [])).toBeUndefined();
  });
});
