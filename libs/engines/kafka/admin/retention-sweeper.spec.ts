import { afterEach, describe, expect, it } from '@jest/globals';
import { keyOf, type Committed } from '../consume/offsets.js';
import { type PartitionId } from '../lane-names.js';
import { type Cluster } from '../wire/cluster.js';
import { CODE } from '../wire/protocol.js';
import { RetentionSweeper, type SweeperHost } from './retention-sweeper.js';

const sweepers: RetentionSweeper[] = [];
afterEach(async () => {
  await Promise.all(sweepers.splice(0).map((each) => each.stop()));
});

interface Group {
  readonly committed: Readonly<Record<string, number>>;
  away?: boolean;
}

const DAY_MS = 86_400_000;

/** A sweeper over lanes of ten records that are all too old. Lane `a` is led by broker 1, `b` by broker 2. */
const world = (groups: Record<string, Group>, leaders: Readonly<Record<string, number>> = { a: 1, b: 2 }) => {
  const drops: string[] = [];
  const warnings: string[] = [];
  const its = { hidden: false, brokersAway: new Set<number>() };
  const call = async (node: number, _: string, __: string, { topics }: { topics: readonly Drop[] }) => {
    if (its.brokersAway.has(node)) throw new Error('away');
    for (const { topic, partitions } of topics) drops.push(`${topic} to ${partitions[0]?.offset}`);
    return { topics: topics.map(({ topic }) => ({ topic, partitions: [{ partition: 0, errorCode: CODE.NONE }] })) };
  };
  const known = Object.entries(leaders).map(([name, leader]) => ({ name, leaders: [leader] }));
  const cluster = {
    call,
    topics: () => known,
    topic: (name: string) => known.find((each) => each.name === name),
    refresh: () => Promise.resolve(),
    warn: (text: string) => warnings.push(text),
  };
  const at = (partitions: readonly PartitionId[], offset: number) =>
    Promise.resolve(
      new Map(partitions.flatMap((each) => ((leaders[each.topic] ?? -1) < 0 ? [] : [[keyOf(each), offset]]))),
    );
  const offsets = {
    // The earliest is 0, the latest 10, and no record is young enough.
    reachable: (partitions: readonly PartitionId[], time: number) =>
      at(partitions, time === -2 ? 0 : time === -1 ? 10 : -1),
    async groups(): Promise<readonly string[]> {
      if (its.hidden) throw new Error('groups are hidden');
      return Object.keys(groups).filter((name) => groups[name]?.away !== true);
    },
    async committed(name: string, partitions: readonly PartitionId[]): Promise<Map<string, Pick<Committed, 'next'>>> {
      const group = groups[name];
      if (group?.away) throw new Error('no coordinator');
      return new Map(partitions.map((each) => [keyOf(each), { next: group?.committed[each.topic] ?? -1 }]));
    },
  };
  const host = {
    cluster: cluster as unknown as Cluster,
    offsets,
    admin: { dropConsumed: async () => new Set<string>() },
    clock: { now: () => 100 * DAY_MS },
    prefix: '',
    everyMs: 1_000_000,
    held: () => [],
    retentionOf: () => ({ ageMs: DAY_MS }),
  };
  // The sweeper uses these methods only.
  const sweeper = new RetentionSweeper(host as unknown as SweeperHost);
  sweepers.push(sweeper);
  const swept = async (): Promise<readonly string[]> => {
    drops.length = 0;
    await sweeper.sweep();
    return drops.toSorted();
  };
  return { its, groups, warnings, swept, sweeper };
};

interface Drop {
  readonly topic: string;
  readonly partitions: readonly { readonly offset: number }[];
}

describe('the sweeper', () => {
  it('drops what is too old, but nothing that a group has not read', async () => {
    const { swept } = world({ router: { committed: { a: 4, b: 10 } }, projector: { committed: { a: 9, b: 0 } } });
    expect(await swept()).toEqual(['a to 4']);
  });

  it('drops on the other brokers while one is away, and leaves a lane without a leader alone', async () => {
    const { its, swept, warnings } = world({ g: { committed: { a: 4, b: 5, c: 6 } } }, { a: 1, b: 2, c: -1 });
    its.brokersAway.add(1);
    expect(await swept()).toEqual(['b to 5']);
    expect(warnings).toEqual(['records could not be dropped']);
  });

  it('goes by the last answer of a group whose coordinator is away', async () => {
    const router: Group = { committed: { a: 4, b: 5 } };
    const { swept } = world({ router, projector: { committed: { a: 9, b: 9 } } });
    expect(await swept()).toEqual(['a to 4', 'b to 5']);
    router.away = true;
    expect(await swept()).toEqual(['a to 4', 'b to 5']);
  });

  it('drops nothing while a group that it does not know may be hidden', async () => {
    const { its, swept, sweeper, warnings } = world({ router: { committed: { a: 4, b: 5 } } });
    its.hidden = true;
    await expect(sweeper.sweep()).rejects.toThrow('groups are hidden');
    its.hidden = false;
    expect(await swept()).toHaveLength(2);
    its.hidden = true;
    expect(await swept()).toHaveLength(2);
    expect(warnings).toEqual(['groups could not be listed; those known before count']);
  });

  it('forgets a group that the brokers have forgotten', async () => {
    const gone: Group = { committed: { a: 1, b: 1 } };
    const { groups, swept } = world({ router: { committed: { a: 4, b: 5 } }, gone });
    expect(await swept()).toEqual(['a to 1', 'b to 1']);
    groups['gone'] = { committed: {} };
    expect(await swept()).toEqual(['a to 4', 'b to 5']);
  });
});
