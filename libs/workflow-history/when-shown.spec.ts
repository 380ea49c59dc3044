import { describe, expect, it } from '@jest/globals';
import { type ListedRun } from './run-history.js';
import { whenShown } from './when-shown.js';

/** Finds a run of each version in turn, and then of the last. */
const reading = (...versions: readonly (number | undefined)[]) => {
  let reads = 0;
  const find = async (): Promise<ListedRun | undefined> => {
    const version = versions[Math.min(reads++, versions.length - 1)];
    return version === undefined ? undefined : ({ version } as ListedRun);
  };
  return { find, reads: () => reads };
};

// docs/reference/workflows.md#run-urls
describe('the wait for what the history shows of a run', () => {
  it.each([
    ['it has the version', [2, 2, 3], 3],
    ['it has a later one', [2, 5], 2],
    ['it no longer has the run', [2, undefined], 2],
  ])('ends once %s', async (_what, versions, expected) => {
    const history = reading(...versions);
    await whenShown(history, { runId: 'run_1', version: 3, withinMs: 60_000 });
    expect(history.reads()).toBe(expected);
  });

  it('ends with its time', async () => {
    const history = reading(2);
    await whenShown(history, { runId: 'run_1', version: 3, withinMs: 50 });
    expect(history.reads()).toBeGreaterThan(0);
    await whenShown({ find: () => new Promise(() => undefined) }, { runId: 'run_1', version: 3, withinMs: 50 });
  });
});
