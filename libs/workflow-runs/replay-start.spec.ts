import { describe, expect, it } from '@jest/globals';
import { nextExecution } from './next-execution.js';
import { type ReplayRequest, type RunReplay, replayStart } from './replay-start.js';
import { type RunPlan } from './run-plan.js';
import { type RunState, outcomeOf } from './run-state.js';
import { arrive, cancel, fail, origin, planOf, resume, start, stateOf, step, succeed } from './testing/run-samples.js';

const abc = planOf([step('a'), step('b'), step('c')]);
const failedAtB = stateOf(abc, arrive(), start(2), succeed(3, 1), fail(4, 2, 'E_X'));
const by = { userId: 'u_1', apiKeyId: null };

const request = (from: string, over: Partial<ReplayRequest> = {}): ReplayRequest => ({
  from,
  startsWith: null,
  isTest: false,
  event: null,
  by,
  ...over,
});

const begun = (plan: RunPlan, of: RunState, from: string): RunReplay => {
  const begins = replayStart(plan, of, request(from));
  if ('refused' in begins) throw new Error(begins.refused);
  return begins;
};

/** The run that a replay leads to, once it has started. */
const replayed = (plan: RunPlan, of: RunState, from: string): RunState => {
  const { origin: given, event, reused } = begun(plan, of, from);
  const again = { ...given, id: 'run_2', keyRun: given.keyRun ?? 'run_2', arrivedAt: 9 };
  return stateOf(plan, arrive({ origin: again, event, reused }), start(10));
};

describe('a replay', () => {
  it('has the trigger, trace and event of its run, and neither its caller nor the version of an earlier replay', () => {
    const caller = { address: 'x', invocation: 'inv_1' };
    const of = { ...origin, traceId: 'run_0', hops: 2, verified: true, startsWith: 'd_0', caller };
    const ended = stateOf(abc, arrive({ origin: of, event: '{"a":2}' }), cancel(2));
    expect(begun(abc, ended, 'start')).toEqual({
      event: '{"a":2}',
      reused: [],
      origin: {
        workflowId: 'p_1',
        ownerId: 'o_1',
        trigger: origin.trigger,
        sourceType: 'HTTP',
        test: false,
        verified: true,
        traceId: 'run_0',
        hops: 2,
        hasCaller: false,
        replayOf: 'run_1',
        replayFrom: 'start',
        replayedBy: by,
        keyRun: null,
      },
    });
  });

  it('may have another event, and the version of its run', () => {
    const begins = replayStart(abc, failedAtB, request('start', { event: '[1]', startsWith: 'd_1' }));
    expect(begins).toMatchObject({ event: '[1]', origin: { startsWith: 'd_1' } });
  });

  it('67: from the start reuses nothing and has keys of its own', () => {
    const state = replayed(abc, failedAtB, 'start');
    expect(nextExecution(abc, state)).toMatchObject({ namespace: 'a', idempotencyKey: 'run_2/a' });
  });

  it('67: from the failed step reuses what came before, under the keys of the failed run', () => {
    const state = replayed(abc, failedAtB, 'failed');
    expect(nextExecution(abc, state)).toMatchObject({ namespace: 'b', idempotencyKey: 'run_1/b' });
    expect(outcomeOf(state, 'a')).toMatchObject({ state: 'succeeded', reused: true });
    expect(state.parts['exports/a']).toBe('{"$return_value":1}');
  });

  it('from the failed step of such a replay continues the same work', () => {
    const again = { ...origin, id: 'run_2', keyRun: 'run_1' };
    const ended = stateOf(abc, arrive({ origin: again }), start(2), fail(3, 1, 'E_X'));
    expect(begun(abc, ended, 'failed').origin).toMatchObject({ keyRun: 'run_1', replayOf: 'run_2' });
  });

  it('from a namespace reuses what came before it, data of a resume included', () => {
    const suspends = succeed(3, 1, { kind: 'suspend', ms: 100 });
    const ended = stateOf(abc, arrive(), start(2), suspends, resume(4, 1), start(5), succeed(6, 2), succeed(7, 3));
    expect(begun(abc, ended, 'b')).toMatchObject({ origin: { keyRun: null }, reused: [{ resumeData: '{"body":1}' }] });
    expect(replayed(abc, ended, 'b').head.position?.namespace).toBe('b');
  });

  it('does not list messages that the replayed run sent', () => {
    const sent = succeed(3, 1, null, { sends: [{ kind: 'http', bytes: 1 }] });
    const ended = stateOf(abc, arrive(), start(2), sent, fail(4, 2, 'E_X'));
    expect(outcomeOf(ended, 'a')?.sends).toHaveLength(1);
    expect(outcomeOf(replayed(abc, ended, 'failed'), 'a')?.sends).toEqual([]);
  });

  it('from a failed handler runs the handler', () => {
    const plan = planOf([step('a', { onError: 'h' }), step('b'), step('h'), step('c')]);
    const ended = stateOf(plan, arrive(), start(2), fail(3, 1, 'E_X'), fail(4, 2, 'E_Y'));
    expect(replayed(plan, ended, 'failed').head.position?.namespace).toBe('h');
  });

  it.each<[string, RunPlan]>([
    ['before its first step', abc],
    ['and has no steps', planOf([])],
  ])('of a run that failed %s begins there, as the same work', (_, plan) => {
    const refused = stateOf(plan, arrive(), { type: 'refuse', now: 2, queueSize: 1 });
    expect(begun(plan, refused, 'failed')).toMatchObject({ reused: [], origin: { keyRun: 'run_1' } });
  });

  it('needs another event when that of its run was too large to be kept', () => {
    const large = stateOf(abc, arrive({ event: `"${'x'.repeat(7_000_000)}"` }));
    expect(replayStart(abc, large, request('start'))).toEqual({ refused: 'event_not_kept' });
    expect(replayStart(abc, large, request('start', { event: '1' }))).toMatchObject({ event: '1' });
  });

  const cancelled = stateOf(abc, arrive(), start(2), cancel(3));
  it.each<[string, RunState, string, object]>([
    ['a run that has not ended', stateOf(abc, arrive(), start(2)), 'start', { refused: 'not_finished' }],
    ['a failure of a run without one', cancelled, 'failed', { refused: 'nothing_failed' }],
    ['a step that is unknown', failedAtB, 'zz', { refused: 'step_not_reached', namespace: 'zz' }],
    ['a step behind one that failed for good', failedAtB, 'c', { refused: 'step_not_reached', namespace: 'b' }],
    ['a step behind one that was cancelled', cancelled, 'b', { refused: 'step_not_reached', namespace: 'a' }],
    ['a step behind one that never ran', cancelled, 'c', { refused: 'step_not_reached', namespace: 'a' }],
  ])('is refused for %s', (_, state, from, refused) => {
    expect(replayStart(abc, state, request(from))).toEqual(refused);
  });

  it('is refused when the failed step, or one before it, is not in the version that it starts with', () => {
    expect(replayStart(planOf([step('a')]), failedAtB, request('failed'))).toEqual({
      refused: 'step_not_reached',
      namespace: 'b',
    });
    const changed = planOf([step('a'), step('z'), step('b')]);
    expect(replayStart(changed, failedAtB, request('failed'))).toEqual({ refused: 'step_not_reached', namespace: 'z' });
  });
});
