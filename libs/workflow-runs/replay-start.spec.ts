import { describe, expect, it } from '@jest/globals';
import { replayStart } from './replay-start.js';
import { type RunPlan } from './run-plan.js';
import { type RunState, outcomeOf } from './run-state.js';
import { arrive, cancel, fail, origin, planOf, resume, start, stateOf, step, succeed } from './testing/run-samples.js';

const abc = planOf([step('a'), step('b'), step('c')]);
const failedAtB = stateOf(abc, arrive(), start(2), succeed(3, 1), fail(4, 2, 'E_X'));

/** The run that a replay leads to, once it has started. */
const replayed = (plan: RunPlan, of: RunState, from: string): RunState => {
  const begun = replayStart(plan, of, from);
  if ('refused' in begun) throw new Error(begun.refused);
  const { reused, keyRun } = begun;
  const again = { ...origin, id: 'run_2', replayOf: 'run_1', replayFrom: from, keyRun: keyRun ?? 'run_2' };
  return stateOf(plan, arrive({ origin: again, reused }), start(10));
};

describe('a replay', () => {
  it('from the start reuses nothing and has keys of its own', () => {
    expect(replayStart(abc, failedAtB, 'start')).toEqual({ reused: [], keyRun: null });
    expect(replayed(abc, failedAtB, 'start').head.position?.namespace).toBe('a');
  });

  it('from the failed step reuses what came before, under the keys of the failed run', () => {
    expect(replayStart(abc, failedAtB, 'failed')).toMatchObject({ keyRun: 'run_1' });
    const state = replayed(abc, failedAtB, 'failed');
    expect(state.head.position?.namespace).toBe('b');
    expect(outcomeOf(state, 'a')).toMatchObject({ state: 'succeeded', reused: true });
    expect(state.parts['exports/a']).toBe('{"$return_value":1}');
  });

  it('from a namespace reuses what came before it, data of a resume included', () => {
    const suspends = succeed(3, 1, { kind: 'suspend', ms: 100 });
    const ended = stateOf(abc, arrive(), start(2), suspends, resume(4, 1), start(5), succeed(6, 2), succeed(7, 3));
    expect(replayStart(abc, ended, 'b')).toMatchObject({ keyRun: null, reused: [{ resumeData: '{"body":1}' }] });
    expect(replayed(abc, ended, 'b').head.position?.namespace).toBe('b');
  });

  it('from a failed handler runs the handler', () => {
    const plan = planOf([step('a', { onError: 'h' }), step('b'), step('h'), step('c')]);
    const ended = stateOf(plan, arrive(), start(2), fail(3, 1, 'E_X'), fail(4, 2, 'E_Y'));
    expect(replayed(plan, ended, 'failed').head.position?.namespace).toBe('h');
  });

  it('of a run that failed before its first step begins there, as the same work', () => {
    const refused = stateOf(abc, arrive(), { type: 'refuse', now: 2, queueSize: 1 });
    expect(replayStart(abc, refused, 'failed')).toEqual({ reused: [], keyRun: 'run_1' });
  });

  it.each<[string, RunState, string, object]>([
    ['a run that has not ended', stateOf(abc, arrive(), start(2)), 'start', { refused: 'run_not_finished' }],
    ['a failure of a run without one', stateOf(abc, arrive(), cancel(2)), 'failed', { refused: 'nothing_failed' }],
    ['a step that is unknown', failedAtB, 'zz', { refused: 'step_not_reached', namespace: 'zz' }],
    ['a step behind one that failed for good', failedAtB, 'c', { refused: 'step_not_reached', namespace: 'b' }],
    [
      'a step behind one that was cancelled',
      stateOf(abc, arrive(), start(2), cancel(3)),
      'b',
      { refused: 'step_not_reached', namespace: 'a' },
    ],
    [
      'a step behind one that never ran',
      stateOf(abc, arrive(), cancel(3)),
      'c',
      { refused: 'step_not_reached', namespace: 'a' },
    ],
  ])('is refused for %s', (_, state, from, refused) => {
    expect(replayStart(abc, state, from)).toEqual(refused);
  });
});
