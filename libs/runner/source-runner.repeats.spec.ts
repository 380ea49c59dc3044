import { describe, expect, it } from '@jest/globals';
import { ok } from './testing/fake-sandbox.js';
import { definition, sourceWorld, until } from './testing/source-world.js';

describe('a repeat that nobody recognises', () => {
  it.each([
    ['of an emit', { kind: 'emit', at: '1767225600000' }],
    ['of a tick', { kind: 'timer', prop: 'timer', at: '1767225600000' }],
    ['of a hook', { kind: 'hook', at: '1767225600000' }],
  ] as const)('%s emits under the ids of the first, whenever it runs', async (_, over) => {
    const emits = async (at: number): Promise<readonly (string | undefined)[]> => {
      const t = sourceWorld({ auto: () => ok({ emits: [{ payload: '1', channel: '' }], startedAt: at, endedAt: at }) });
      t.world.now = at;
      const runner = await t.load();
      const request = { hook: 'activate', deadline: at + 1_000, definition: definition() };
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
