import { describe, expect, it } from '@jest/globals';
import { MOST_ABOVE } from '../lane-tracker.js';
import { ok } from './testing/fake-sandbox.js';
import { sourceWorld, until } from './testing/source-world.js';

describe('a run that takes long while those after it are done', () => {
  it('holds further runs of its source once thousands are done beyond it, until it ends', async () => {
    const t = sourceWorld();
    const runner = await t.load();
    // More than may be done beyond the gap, including those in flight when the limit is reached.
    const count = MOST_ABOVE + 256;
    await runner.accept(Array.from({ length: count }, (_, offset) => t.invocation(offset)));
    await until(() => t.sandboxes.length === 1);
    const [sandbox] = t.sandboxes;
    const endAllBut = (kept: string | undefined): void => {
      for (const [id, { resolve }] of [...(sandbox?.pending ?? [])]) {
        if (id === kept) continue;
        sandbox?.pending.delete(id);
        resolve(ok());
      }
    };
    await until(() => {
      endAllBut('inv_0');
      return t.acked.length >= MOST_ABOVE && sandbox?.pending.size === 1;
    });
    expect(sandbox?.started.length).toBeLessThan(count);
    expect(t.journal.laneOf('dc_1').progress.above.length).toBeLessThan(MOST_ABOVE + 100);
    await until(() => {
      endAllBut(undefined);
      return t.acked.length === count;
    });
    expect(t.journal.laneOf('dc_1').progress).toEqual({ through: count - 1, above: [] });
    await runner.close(0);
  });
});
