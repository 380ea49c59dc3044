import { describe, expect, it } from '@jest/globals';
import { ok } from './testing/fake-sandbox.js';
import { sourceWorld, until } from './testing/source-world.js';

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
