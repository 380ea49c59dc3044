import { describe, expect, it } from '@jest/globals';
import { runDecider } from './run-decider.js';
import { type RunInput } from './run-inputs.js';
import { initialRun } from './run-state.js';
import { arrive, cancel, planOf, start, stateOf, step, succeed } from './testing/run-samples.js';

const GONE = planOf([], { version: { deploymentId: null, version: null }, isGone: true });
const lost = (cause: 'owner' | 'process'): RunInput => ({
  type: 'interrupt',
  now: 3_000,
  execution: 1,
  cause,
  mayWait: true,
});

describe('a run whose draft is gone', () => {
  const { decide } = runDecider(GONE);
  const failed = (namespace: string | null, at: number) => [
    { type: 'RunFailed', data: { at, namespace, error: expect.objectContaining({ code: 'DraftDiscarded' }) } },
  ];

  it('arrives, and fails at its start', () => {
    expect(decide(arrive(), initialRun)).toMatchObject([{ type: 'RunArrived' }]);
    expect(decide(start(2_000), stateOf(planOf([step('a')]), arrive()))).toEqual(failed(null, 2_000));
  });

  it('fails with the outcome of its step, or when the process of that is lost, and not before', () => {
    const running = stateOf(planOf([step('a'), step('b')]), arrive(), start(2_000));
    expect(decide(succeed(3_000, 1), running)).toEqual(failed('a', 3_000));
    expect(decide(lost('process'), running)).toEqual(failed('a', 3_000));
    expect(decide(lost('owner'), running)).toEqual([]);
    expect(decide(cancel(3_000), running)).toMatchObject([{ type: 'RunCancelled' }]);
  });
});
