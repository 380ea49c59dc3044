import { describe, expect, it } from '@jest/globals';
import { ok } from './testing/fake-sandbox.js';
import { definition, sourceWorld, until } from './testing/source-world.js';

const MS = 1_700_000_000_000;

/** The invocation for the emitter's nth emit by a subscription. */
const passedOn = (n: number, emitter = 'dc_a', subscription = 'sub_1') => ({
  kind: 'emit' as const,
  id: `inv_${emitter}_${n}_${subscription}`,
  emitter,
  subscription,
  event: `${MS + n}-0`,
});

/** The lane of the source by offset, and a runner after each crash. */
const listener = () => {
  const lane: Record<string, string>[] = [];
  let t = sourceWorld({ auto: () => ok() });
  const runs: string[] = [];
  return {
    lane,
    /** Runs the whole lane in a new process, and returns the ids that it ran. */
    runAll: async (): Promise<readonly string[]> => {
      t = sourceWorld({ journal: t.journal, auto: () => ok() });
      const runner = await t.load();
      for (let at = 0; at < lane.length; at += 64) {
        const batch = lane.slice(at, at + 64).map((headers, i) => t.invocation(at + i, headers));
        await runner.accept(batch);
        await until(() => t.acked.length === at + batch.length);
      }
      const started = t.sandboxes.flatMap((sandbox) => sandbox.started);
      runs.push(...started);
      await runner.close();
      return started;
    },
    runs,
  };
};

describe('repeats of emits', () => {
  it('do not run, however many and of however many emitters', async () => {
    const l = listener();
    const emitters = ['dc_a', 'dc_b', 'dc_c', 'dc_d', 'dc_e'];
    const queued = emitters.flatMap((emitter) => Array.from({ length: 2_000 }, (_, n) => passedOn(n, emitter)));
    l.lane.push(...queued);
    expect(await l.runAll()).toHaveLength(10_000);
    l.lane.push(...queued, passedOn(2_000, 'dc_a'));
    expect(await l.runAll()).toEqual([passedOn(2_000, 'dc_a').id]);
  }, 120_000);

  it('do not run when a crashed router sends the last ones again among new ones', async () => {
    const l = listener();
    l.lane.push(...[1, 2, 3, 2, 3, 4].map((n) => passedOn(n)));
    expect(await l.runAll()).toEqual([1, 2, 3, 4].map((n) => passedOn(n).id));
  });

  it('of one subscription do not keep those of another from running', async () => {
    const l = listener();
    l.lane.push(passedOn(1), passedOn(2), passedOn(1, 'dc_a', 'sub_2'));
    expect(await l.runAll()).toHaveLength(3);
  });

  it('push no tick, hook or event that has waited out of the memory of ids', async () => {
    const l = listener();
    const tick = { kind: 'timer', prop: 'timer', id: 'inv_tick' };
    const emits = Array.from({ length: 1_500 }, (_, n) => passedOn(n));
    l.lane.push(...emits, tick);
    await l.runAll();
    l.lane.push(...emits, tick);
    expect(await l.runAll()).toEqual([]);
  });

  it('are not events of a replay or of the platform, which come out of order', async () => {
    const l = listener();
    const { event: _, subscription: __, ...unplaced } = passedOn(1);
    const replayed = { ...unplaced, id: 'inv_replayed', replay: 'rpl_1' };
    l.lane.push(passedOn(5), replayed, replayed);
    expect(await l.runAll()).toEqual([passedOn(5).id, 'inv_replayed']);
  });

  it('say nothing about what did not end before a crash', async () => {
    const t = sourceWorld();
    const all = Array.from({ length: 10 }, (_, n) => n);
    const runner = await t.load();
    await runner.accept(all.map((n) => t.invocation(n, passedOn(n))));
    await until(() => t.sandboxes[0]?.started.length === 10);
    for (const n of [8, 2, 5]) t.sandboxes[0]?.end(passedOn(n).id);
    await until(() => t.acked.length === 3);
    const after = sourceWorld({ journal: t.journal, auto: () => ok() });
    const second = await after.load();
    // The router publishes all of them again, behind what the crash left.
    await second.accept([...all, ...all].map((n, offset) => after.invocation(offset, passedOn(n))));
    await until(() => after.acked.length === 20);
    expect(after.sandboxes[0]?.started).toEqual([0, 1, 3, 4, 6, 7, 9].map((n) => passedOn(n).id));
  });
});

describe('a repeat that no guard recognizes', () => {
  it.each([
    ['of an emit', { kind: 'emit', at: '1767225600000' }],
    ['of a tick', { kind: 'timer', prop: 'timer', at: '1767225600000' }],
    ['of a hook', { kind: 'hook', at: '1767225600000' }],
  ] as const)('%s emits under the ids of the first, whenever it runs', async (_, over) => {
    const emits = async (at: number): Promise<readonly (string | undefined)[]> => {
      const t = sourceWorld({ auto: () => ok({ emits: [{ payload: '1', channel: '' }], startedAt: at, endedAt: at }) });
      t.world.now = at;
      const runner = await t.load();
      const request = { hook: 'activate', deadline: at + 1_000, untilUptimeMs: 1_000, definition: definition() };
      const made = t.invocation(0, over, JSON.stringify(over.kind === 'hook' ? request : 1));
      await runner.accept([{ ...made, record: { ...made.record, timestamp: at } }]);
      await until(() => t.acked.length === 1);
      return t.journal.records.map(({ headers }) => headers['emit']);
    };
    const [first, again] = [await emits(1_800_000_000_000), await emits(1_800_000_900_000)];
    expect(first.length).toBeGreaterThan(0);
    expect(again).toEqual(first);
  });
});

describe('a repeat that is committed while the first is in flight', () => {
  it('does not make the first count as done: it runs again after a crash', async () => {
    const t = sourceWorld();
    const same = { kind: 'emit', id: 'inv_same' } as const;
    const runner = await t.load();
    await runner.accept([0, 1].map((offset) => t.invocation(offset, same)));
    await until(() => t.acked.length === 1);
    expect(t.acked).toEqual([1]);

    const after = sourceWorld({ journal: t.journal, auto: () => ok({ emits: [{ payload: '1', channel: '' }] }) });
    const second = await after.load();
    await second.accept([0, 1].map((offset) => after.invocation(offset, same)));
    await until(() => after.acked.length === 2);
    expect(after.sandboxes[0]?.started).toEqual(['inv_same']);
    expect(after.journal.records).toHaveLength(1);
  });
});
