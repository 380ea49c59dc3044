import { describe, expect, it } from '@jest/globals';
import { type Caller } from '#libs/http/callers.js';
import { newId } from '#libs/kernel/ids.js';
import { type RunnableWorkflows } from './ports.js';
import { type ListedRun, type RunHistory } from './run-history.js';
import { ShownRuns } from './shown-runs.js';

const ID = newId('run', 1);
const caller = { workspaceIds: ['o_1'] } as unknown as Caller;
const workflows = { find: () => ({}) } as unknown as RunnableWorkflows;

/** A history that has the run from its `shownAt`th read on. */
const reading = (shownAt: number) => {
  let reads = 0;
  const find = async (id: string): Promise<ListedRun | undefined> =>
    ++reads >= shownAt ? ({ id, workflowId: 'p_1', workspaceId: 'o_1' } as ListedRun) : undefined;
  const history = { find, whole: find } as unknown as RunHistory;
  return { runs: new ShownRuns(history, workflows), reads: () => reads };
};

// docs/reference/workflows.md#run-record
describe('a run whose id its caller has just got', () => {
  it.each(['find', 'whole'] as const)('is looked for again (%s)', async (how) => {
    const { runs, reads } = reading(3);
    expect((await runs.find(ID, caller, how)).id).toBe(ID);
    expect(reads()).toBe(3);
  });

  it('is not found after three looks, and what is no id is not looked for', async () => {
    const { runs, reads } = reading(4);
    await expect(runs.find(ID, caller, 'find')).rejects.toThrow(`there is no run ${ID}`);
    expect(reads()).toBe(3);
    await expect(runs.find('p_1', caller, 'find')).rejects.toThrow('there is no run p_1');
    expect(reads()).toBe(3);
  });
});
