import { describe, expect, it } from '@jest/globals';
import { type TopicSelector } from '#libs/stream-log/stream-log.js';
import { type TopicMetadata } from '../wire/cluster.js';
import { Assignment } from './assignment.js';
import { type Agreement } from './membership.js';
import { keyOf } from './offsets.js';

const TOPICS: Readonly<Record<string, readonly number[]>> = {
  'x.emits.a': [1],
  'x.emits.b': [1, 2, -1],
  'x.runs': [1],
  'emits.other': [1],
};

const assignmentOf = (selector: TopicSelector, agreement?: Agreement, topics = TOPICS): Assignment => {
  const known = new Map(
    Object.entries(topics).map(([name, leaders]): [string, TopicMetadata] => [
      name,
      { name, id: `id of ${name}`, leaders, copies: [] },
    ]),
  );
  const cluster = { topic: (name: string) => known.get(name), topics: () => known.values() };
  const assignment = new Assignment(cluster, 'x.', selector);
  assignment.agreement = agreement;
  return assignment;
};
const agreed = (self: string, members: readonly string[]): Agreement => ({
  self,
  members,
  member: { id: self, generation: 1 },
});
const selectedBy = (selector: TopicSelector): string[] => [...assignmentOf(selector).selected()].map(keyOf);

describe('Assignment', () => {
  it('selects every partition of the topics, by name or prefix and within the prefix of the installation', () => {
    const emits = ['x.emits.a/0', 'x.emits.b/0', 'x.emits.b/1', 'x.emits.b/2'];
    expect(selectedBy({ prefix: 'emits.' })).toEqual(emits);
    expect(selectedBy({ prefix: '' })).toEqual([...emits, 'x.runs/0']);
    expect(selectedBy({ names: ['runs', 'x.runs', 'other', 'emits.other'] })).toEqual(['x.runs/0']);
  });

  it('gives each partition to one member, and none without an agreement', () => {
    const members = ['m1', 'm2', 'm3'];
    const topics = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x.emits.${n}`, [1]]));
    const all = members.map((self) => assignmentOf({ prefix: '' }, agreed(self, members), topics));
    for (const partition of all[0]?.selected() ?? []) {
      expect(all.filter((each) => each.isMine(partition))).toHaveLength(1);
    }
    const alone = assignmentOf({ prefix: '' });
    expect([...alone.selected()].filter((each) => alone.isMine(each))).toEqual([]);
  });

  it('gives nobody a partition that does not exist, but one that waits for a leader', () => {
    const assignment = assignmentOf({ prefix: '' }, agreed('m1', ['m1']));
    expect(assignment.isMine({ topic: 'x.emits.b', partition: 2 })).toBe(true);
    expect(assignment.leaderOf({ topic: 'x.emits.b', partition: 2 })).toBe(-1);
    expect(assignment.isMine({ topic: 'x.emits.b', partition: 3 })).toBe(false);
    expect(assignment.isMine({ topic: 'x.gone', partition: 0 })).toBe(false);
  });
});
