import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type RunSurplus } from '../run-history.js';
import { type RetainedWorkflow, RunRetention } from './run-retention.js';

const DAY_MS = 86_400_000;
const NOW = 1_000 * DAY_MS;
const DEFAULTS = { runs: 1_000, days: 30, workspaceBytes: 5_000 };

const workflow = (id: string, dataRetention: RetainedWorkflow['settings']['dataRetention']): RetainedWorkflow => ({
  id,
  workspaceId: 'o_1',
  settings: { dataRetention },
});

/** A history with this number of surplus runs for each workflow and workspace. */
const world = (workflows: readonly RetainedWorkflow[], left: Record<string, number> = {}) => {
  const asked: RunSurplus[] = [];
  const errors: string[] = [];
  let failures = 0;
  let passes = -1;
  const keyOf = (of: RunSurplus): string => ('workflowId' in of ? of.workflowId : of.workspaceId);
  const retention = new RunRetention({
    runHistory: {
      surplus: async (of, limit) => {
        if (failures-- > 0) throw new Error('no store');
        asked.push(of);
        return Array.from({ length: Math.min(limit, left[keyOf(of)] ?? 0) }, () => keyOf(of));
      },
      remove: async (ids) => {
        for (const id of ids) left[id] = (left[id] ?? 0) - 1;
      },
    },
    workflows: { find: (id) => workflows.find((each) => each.id === id), all: () => workflows },
    kept: DEFAULTS,
    clock: { now: () => NOW + passes * 2_000 },
    logger: { error: (_, text) => void errors.push(text) },
  });
  const pass = (): Promise<void> => {
    passes++;
    return jest.advanceTimersByTimeAsync(2_000);
  };
  return { retention, asked, left, errors, pass, fail: () => (failures = 1) };
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

// docs/reference/workflows.md#retention
describe('the retention of runs', () => {
  it('keeps what a workflow says, else what the server says, and of none what ended just now', async () => {
    const { retention, asked, pass } = world([
      workflow('p_1', null),
      workflow('p_2', { runs: 3, days: null }),
      workflow('p_3', { runs: null, days: 2 }),
      workflow('p_4', 'none'),
    ]);
    await pass();
    await retention.close();
    expect(asked).toEqual([
      { workflowId: 'p_1', runs: 1_000, since: NOW - 30 * DAY_MS },
      { workflowId: 'p_2', runs: 3, since: NOW - 30 * DAY_MS },
      { workflowId: 'p_3', runs: 1_000, since: NOW - 2 * DAY_MS },
      { workflowId: 'p_4', runs: 1_000_000_000, since: NOW - 5_000 },
      { workspaceId: 'o_1', bytes: 5_000 },
    ]);
  });

  it('removes a bounded number in a pass, and the rest in the next', async () => {
    const { retention, left, pass } = world([workflow('p_1', null)], { p_1: 4_250, o_1: 10 });
    await pass();
    expect(left).toEqual({ p_1: 250, o_1: 0 });
    await pass();
    await retention.close();
    expect(left).toEqual({ p_1: 0, o_1: 0 });
  });

  it('comes at once to a workflow whose run ended, whatever the number of others', async () => {
    const many = Array.from({ length: 500 }, (_, n) => workflow(`p_${n}`, null));
    const { retention, left, asked, pass } = world(many, { p_499: 1 });
    retention.ended('p_499');
    retention.ended('p_gone');
    await pass();
    expect([left['p_499'], asked.length]).toEqual([0, 202]);
    await pass();
    await pass();
    await retention.close();
    const workflows = asked.flatMap((of) => ('workflowId' in of ? [of.workflowId] : []));
    expect(new Set(workflows).size).toBe(500);
  });

  it('comes back to a workflow that keeps none until its last run may go', async () => {
    const many = Array.from({ length: 2_000 }, (_, n) => workflow(`p_${n}`, 'none'));
    const { retention, asked, pass } = world(many);
    retention.ended('p_1999');
    for (let n = 0; n < 5; n++) await pass();
    await retention.close();
    const since = asked.flatMap((of) => ('since' in of && of.workflowId === 'p_1999' ? [of.since - NOW] : []));
    // The run ended at -2,000.
    expect(since).toEqual([-5_000, -3_000, -1_000]);
  });

  it('says so when the store fails, and tries again', async () => {
    const { retention, left, errors, pass, fail } = world([workflow('p_1', null)], { p_1: 1 });
    fail();
    await pass();
    expect([left['p_1'], errors]).toEqual([1, ['run_history.not_trimmed: tried again in 2 s']]);
    await pass();
    await retention.close();
    expect(left['p_1']).toBe(0);
  });
});
