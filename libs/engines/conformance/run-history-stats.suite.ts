import { expect, it } from '@jest/globals';
import { type RunHistory, type RunStats } from '#libs/workflow-history/run-history.js';
import { type RunOrigin } from '#libs/workflow-runs/run-facts.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { fail, start } from '#libs/workflow-runs/testing/run-samples.js';
import { type Part } from './harness.js';

/** Runs of one workflow, counted for the list of workflows. */
export const statsPart: Part<RunHistory> = (store) => {
  const failed = (of: Partial<RunOrigin>) => changesOf(of, start(1_001), fail(1_002, 1, 'E_X'));
  const none: RunStats = { lastArrivedAt: null, runs: 0, failed: 0 };

  it('count the runs that arrived since a time and those of them that failed, by workflow', async () => {
    await store().apply([
      ...failed({ id: 'run_1', arrivedAt: 1_000 }),
      ...failed({ id: 'run_2', arrivedAt: 2_000 }),
      ...changesOf({ id: 'run_3', arrivedAt: 3_000 }, start(3_001)),
      ...changesOf({ id: 'run_4', arrivedAt: 4_000, workflowId: 'p_10' }),
      ...failed({ id: 'run_5', arrivedAt: 1_500, workflowId: 'p_2' }),
    ]);
    const stats = await store().stats(['p_2', 'p_none', 'p_1', 'p_10'], 2_000);
    expect(stats).toEqual([
      { lastArrivedAt: 1_500, runs: 0, failed: 0 },
      none,
      { lastArrivedAt: 3_000, runs: 2, failed: 1 },
      { lastArrivedAt: 4_000, runs: 1, failed: 0 },
    ]);
    expect(await store().stats([], 0)).toEqual([]);
  });

  it('count no tests', async () => {
    await store().apply([
      ...changesOf({ id: 'run_1', arrivedAt: 1_000 }),
      ...failed({ id: 'run_2', arrivedAt: 2_000, test: true }),
      ...failed({ id: 'run_3', arrivedAt: 3_000, test: true, workflowId: 'p_2' }),
    ]);
    expect(await store().stats(['p_1', 'p_2'], 0)).toEqual([{ lastArrivedAt: 1_000, runs: 1, failed: 0 }, none]);
  });
};
