import { describe, expect, it } from '@jest/globals';
import { itemOutcomes, placeOfSend } from './loop-state.js';
import { executingNow, nextExecution, stepTexts } from './next-execution.js';
import { replayStart } from './replay-start.js';
import { runDecider } from './run-decider.js';
import { type RunInput } from './run-inputs.js';
import { RUN_BYTES } from './run-limits.js';
import { changedParts } from './run-parts.js';
import { stepRecords } from './run-record.js';
import { PARTS, outcomeOf } from './run-state.js';
import {
  arrive,
  cancel,
  factsOf,
  fail,
  last,
  listed,
  planOf,
  resume,
  start,
  stateOf,
  step,
  succeed,
} from './testing/run-samples.js';

const RETRY = { maxRetries: 2, delaySeconds: 10, backoff: 'fixed', alsoOn: [] } as const;
const looping = (changed: Parameters<typeof step>[1] = {}, concurrency = 2) =>
  planOf([step('a', { loop: { concurrency }, ...changed }), step('b')]);
const plan = looping();
/** A run whose loop has begun. Its items have the executions 2, 3 and so on. */
const begun = (count: number): RunInput[] => [arrive(), start(2_000), listed(2_000, 1, count)];
const shown = (of = plan, ...inputs: RunInput[]): unknown =>
  JSON.parse(stepTexts(of, stateOf(of, ...inputs)).get('a') ?? 'null');

describe('the items of a loop', () => {
  it('start in order, as many at once as its concurrency', () => {
    expect(last(plan, ...begun(3))).toEqual(['ItemsListed', 'ItemStarted 0.1', 'ItemStarted 1.1']);
    expect(last(plan, ...begun(3), succeed(3_000, 3))).toEqual(['ItemSucceeded', 'ItemStarted 2.1']);
    expect(last(plan, ...begun(3), succeed(3_000, 3), succeed(3_000, 2))).toEqual(['ItemSucceeded']);
  });

  it('have keys, deadlines and numbers of their own', () => {
    const state = stateOf(looping({ timeoutSeconds: 5 }), ...begun(3));
    expect(executingNow(state)).toEqual([2, 3]);
    expect(nextExecution(looping({ timeoutSeconds: 5 }), state, 3)).toMatchObject({
      item: 1,
      idempotencyKey: 'run_1/a/item-1',
      deadline: 7_000,
      mostDeadline: 7_000,
      evaluatesIf: false,
    });
    expect(nextExecution(looping(), stateOf(looping(), ...begun(3)), 3)).toMatchObject({ mostDeadline: 3_602_000 });
    expect(nextExecution(looping(), state, 4)).toBeNull();
  });

  it('leave their results in item order and one line about all', () => {
    const ends = [3, 2, 4].map((execution) =>
      succeed(3_000, execution, null, { exports: { $return_value: `${execution}` } }),
    );
    expect(last(plan, ...begun(3), ...ends)).toEqual([
      'ItemSucceeded',
      'StepSucceeded',
      'StretchBegun',
      'StepStarted b 1.1',
    ]);
    expect(shown(plan, ...begun(3), ...ends)).toMatchObject({
      $return_value: [2, 3, 4],
      $summary: '3 of 3 items',
      $items: [
        { index: 0, state: 'succeeded', exports: { $return_value: 2 }, error: null },
        { index: 1 },
        { index: 2 },
      ],
    });
  });

  it('are none in an empty list', () => {
    expect(last(plan, ...begun(0))).toEqual(['ItemsListed', 'StepSucceeded', 'StretchBegun', 'StepStarted b 1.1']);
    expect(shown(plan, ...begun(0))).toMatchObject({ $return_value: [], $summary: '0 of 0 items' });
  });

  it('are 1,000 at most', () => {
    expect(last(plan, ...begun(1_000))).toContain('ItemsListed');
    expect(last(plan, ...begun(1_001))).toEqual(['StepFailed ForEachLimitExceeded', 'RunFailed ForEachLimitExceeded']);
  });

  it('have each outcome once', () => {
    const [second, repeat] = [succeed(3_000, 3), fail(4_000, 3, 'E_LATE')];
    expect(last(plan, ...begun(3), second, repeat)).toEqual([]);
    expect(last(plan, ...begun(3), listed(3_000, 1, 3))).toEqual([]);
  });

  it('count in the limit of the run, which the item beyond it fails', () => {
    const large = { exports: { $return_value: `"${'x'.repeat(RUN_BYTES / 2)}"` } };
    const inputs = [...begun(3), succeed(3_000, 2, null, large), succeed(3_000, 3, null, large)];
    expect(last(plan, ...inputs)).toEqual(['ItemFailed FunctionPayloadLimitExceeded']);
  });
});

describe('an item that fails', () => {
  it('starts no further one, and fails the step when those that run have ended', () => {
    const inputs = [...begun(5), fail(3_000, 3, 'E_1')];
    expect(last(plan, ...inputs)).toEqual(['ItemFailed E_1']);
    expect(last(plan, ...inputs, succeed(4_000, 2))).toEqual(['ItemSucceeded', 'StepFailed E_1', 'RunFailed E_1']);
  });

  it('fails the step with the error of the lowest index', () => {
    const inputs = [...begun(5), fail(3_000, 3, 'E_1'), fail(4_000, 2, 'E_0')];
    expect(last(plan, ...inputs)).toEqual(['ItemFailed E_0', 'StepFailed E_0', 'RunFailed E_0']);
    expect(outcomeOf(stateOf(plan, ...inputs), 'a')).toMatchObject({ state: 'failed', items: 5 });
  });

  it('leads to the handler of the step', () => {
    const handled = planOf([step('a', { loop: { concurrency: 1 }, onError: 'h' }), step('b'), step('h')]);
    expect(last(handled, ...begun(2), fail(3_000, 2, 'E_0'))).toEqual([
      'ItemFailed E_0',
      'StepFailed E_0',
      'StretchBegun',
      'StepSkipped b on_error',
      'StepStarted h 1.1',
    ]);
  });

  it('is null among the results with continue', () => {
    const goesOn = looping({ onError: 'continue' });
    const inputs = [...begun(3), succeed(3_000, 2), fail(3_000, 3, 'E_1'), succeed(3_000, 4)];
    expect(last(goesOn, ...inputs)).toEqual(['ItemSucceeded', 'StepSucceeded', 'StretchBegun', 'StepStarted b 1.1']);
    expect(shown(goesOn, ...inputs)).toMatchObject({
      $return_value: [1, null, 1],
      $summary: '2 of 3 items',
      $items: [{}, { state: 'failed', error: { code: 'E_1' } }, {}],
    });
  });

  it('ends the run when it ended its server, whatever on_error says', () => {
    const inputs = [...begun(1), fail(3_000, 2, 'HostEnded')];
    expect(last(looping({ onError: 'continue' }), ...inputs)).toContain('RunFailed HostEnded');
  });

  it('is tried again in its place, and the run waits only when no item executes', () => {
    const retried = looping({ retry: RETRY });
    const first = [...begun(3), fail(3_000, 2, 'E_0')];
    expect(last(retried, ...first)).toEqual(['ItemFailed E_0 for now']);
    const both = [...first, fail(4_000, 3, 'E_1')];
    expect(last(retried, ...both)).toEqual(['ItemFailed E_1 for now', 'WaitBegun retry until 13000']);
    const due: RunInput = { type: 'alarm', now: 13_000, execution: 3, dueAt: 13_000 };
    expect(last(retried, ...both, due, start(13_000))).toEqual(['StretchBegun', 'ItemStarted 0.2']);
    expect(last(retried, ...both, resume(5_000, null), start(5_000))).toEqual(['StretchBegun', 'ItemStarted 0.2']);
  });

  it('is told of at once when it is the first of the loop and notify_first_error is set', () => {
    const autoRetry = { notifyFirstError: true, alsoOn: [] };
    const told = (of: typeof plan): unknown[] =>
      factsOf(of, ...begun(3), fail(3_000, 2, 'E_0'), fail(3_000, 3, 'E_1')).flatMap((fact) =>
        fact.type === 'ItemFailed' ? [[fact.data.error.code, fact.data.notifies]] : [],
      );
    const steps = (onError: string) => [step('a', { loop: { concurrency: 2 }, onError }), step('b')];
    expect(told(planOf(steps('stop'), { autoRetry }))).toEqual([
      ['E_0', true],
      ['E_1', false],
    ]);
    expect(told(planOf(steps('continue'), { autoRetry }))).toEqual([
      ['E_0', false],
      ['E_1', false],
    ]);
    expect(told(looping())).toEqual([
      ['E_0', false],
      ['E_1', false],
    ]);
  });

  it('is tried again with the next outcome when its time came while others executed', () => {
    const retried = looping({ retry: RETRY });
    const inputs = [...begun(3), fail(3_000, 2, 'E_0'), succeed(20_000, 3)];
    expect(last(retried, ...inputs)).toEqual(['ItemSucceeded', 'ItemStarted 0.2', 'ItemStarted 2.1']);
    expect(nextExecution(retried, stateOf(retried, ...inputs), 4)).toMatchObject({
      idempotencyKey: 'run_1/a/item-0',
      run: { attempt: 2 },
    });
  });

  it('is not tried again once another has failed for good', () => {
    const inputs = [...begun(3), fail(3_000, 2, 'E_0'), fail(3_000, 3, 'ConfigurationError')];
    expect(last(looping({ retry: RETRY }), ...inputs)).toEqual([
      'ItemFailed ConfigurationError',
      'StepFailed E_0',
      'RunFailed E_0',
    ]);
  });

  it('fails for good after its last attempt, and the step is not tried again', () => {
    const retried = looping({ retry: { ...RETRY, maxRetries: 1 } });
    const again = [...begun(1), fail(3_000, 2, 'E_0'), resume(4_000, null), start(4_000), fail(5_000, 3, 'E_0')];
    expect(last(retried, ...again)).toEqual(['ItemFailed E_0', 'StepFailed E_0', 'RunFailed E_0']);
  });
});

describe('a loop that a replay goes on with', () => {
  const item = (value: number): string => JSON.stringify({ state: 'succeeded', exports: { $return_value: value } });
  const keeping = (...indexes: number[]): RunInput =>
    arrive({ kept: { namespace: 'a', items: indexes.map((index) => ({ index, outcome: item(index * 10) })) } });

  it('runs the items that have no outcome yet, as many at once as its concurrency', () => {
    const inputs = [keeping(0, 2), start(2_000), listed(2_000, 1, 5)];
    expect(last(plan, ...inputs)).toEqual(['ItemsListed', 'ItemStarted 1.1', 'ItemStarted 3.1']);
    const ended = [...inputs, succeed(3_000, 2), succeed(3_000, 3), succeed(3_000, 4)];
    expect(shown(plan, ...ended)).toMatchObject({ $return_value: [0, 1, 20, 1, 1], $summary: '5 of 5 items' });
  });

  it('ends at once when all items of its list have one', () => {
    expect(last(plan, keeping(0, 1, 2), start(2_000), listed(2_000, 1, 2))).toEqual([
      'ItemsListed',
      'StepSucceeded',
      'StretchBegun',
      'StepStarted b 1.1',
    ]);
  });
});

describe('the record of a loop', () => {
  const itemsOf = (of: typeof plan, ...inputs: RunInput[]): unknown =>
    stepRecords(of, stateOf(of, ...inputs))[0]?.items?.map(({ state, attempts, error }) => [
      state,
      attempts,
      error?.code,
    ]);

  it('says what each item does', () => {
    const retried = looping({ retry: RETRY, onError: 'continue' }, 3);
    const inputs = [...begun(5), fail(3_000, 2, 'E_0'), fail(3_000, 3, 'ConfigurationError'), succeed(3_000, 4)];
    expect(itemsOf(retried, ...inputs)).toEqual([
      ['waiting', 1, 'E_0'],
      ['failed', 1, 'ConfigurationError'],
      ['succeeded', 1, undefined],
      ['running', 1, undefined],
      ['running', 1, undefined],
    ]);
    const again = [...inputs, succeed(20_000, 5)];
    expect(itemsOf(retried, ...again)).toMatchObject([['running', 2, 'E_0'], {}, {}, ['succeeded', 1, undefined], {}]);
  });

  it('has the log lines and messages of all items, in their order', () => {
    const left = (n: number) => ({
      logs: [{ k: 'stdout', ts: n, msg: `of ${n}` }],
      sends: [{ kind: 'http' as const, bytes: 1 }],
    });
    const inputs = [...begun(2), succeed(3_000, 3, null, left(1)), succeed(3_000, 2, null, left(0))];
    const state = stateOf(plan, ...inputs);
    const sent = { id: itemOutcomes(state, 'a', 2)[1]?.sends[0]?.id, state: 'sent', attempts: 1, status: 200 };
    const parts = { ...state.parts, [PARTS.sent('a', placeOfSend(0, 1))]: JSON.stringify({ ...sent, error: null }) };
    const [record] = stepRecords(plan, { ...state, parts });
    expect(record?.logs.map(({ msg }) => msg)).toEqual(['of 0', 'of 1']);
    expect(record?.sends).toMatchObject([{ state: 'queued' }, { ...sent }]);
    expect(state.head.messages).toBe(2);
  });

  it('counts the places of messages, which each attempt of an item has anew', () => {
    const one = looping({ retry: RETRY }, 1);
    const sent = (count: number) => ({
      sends: Array.from({ length: count }, () => ({ kind: 'http', bytes: 1 }) as const),
    });
    const placesOf = (...inputs: RunInput[]) => stateOf(one, ...begun(1), ...inputs).head.messages;
    const again = (now: number): RunInput[] => [resume(now, null), start(now)];
    const attempts = [
      ...[fail(3_000, 2, 'E_0', sent(3)), ...again(4_000)],
      ...[fail(5_000, 3, 'E_0', sent(2)), ...again(6_000)],
    ];
    expect(placesOf(...attempts.slice(0, 1))).toBe(3);
    expect(placesOf(...attempts)).toBe(3);
    expect(placesOf(...attempts, succeed(7_000, 4, null, sent(5)))).toBe(5);
    expect(placesOf(succeed(3_000, 2, null, sent(0)))).toBeUndefined();
  });

  it('has items only once their list is known', () => {
    expect(itemsOf(plan, arrive(), start(2_000))).toBeUndefined();
    expect(itemsOf(plan, ...begun(0))).toEqual([]);
  });

  it('says of items that did not run that they are pending', () => {
    expect(itemsOf(looping({}, 1), ...begun(3), fail(3_000, 2, 'E_0'))).toEqual([
      ['failed', 1, 'E_0'],
      ['pending', 0, undefined],
      ['pending', 0, undefined],
    ]);
    expect(itemsOf(plan, ...begun(3), succeed(3_000, 2), cancel(4_000))).toEqual([
      ['succeeded', 1, undefined],
      ['pending', 0, undefined],
      ['pending', 0, undefined],
    ]);
  });
});

describe('the end of a loop before its last item', () => {
  it('comes with $.flow.exit once the items that run have ended', () => {
    const exits = [...begun(5), succeed(3_000, 2, { kind: 'exit', reason: 'enough' })];
    expect(last(plan, ...exits)).toEqual(['ItemSucceeded']);
    const ended = [...exits, succeed(3_000, 3)];
    expect(last(plan, ...ended)).toEqual(['ItemSucceeded', 'StepSucceeded', 'RunExited']);
    expect(shown(plan, ...ended)).toMatchObject({ $return_value: [1, 1, null, null, null] });
  });

  it('comes with a cancel, which keeps the outcomes of items', () => {
    const cancelled = stateOf(plan, ...begun(3), succeed(3_000, 2), cancel(4_000));
    expect(outcomeOf(cancelled, 'a')).toMatchObject({ state: 'cancelled', items: 3, durationMs: 1_000 });
    expect(last(plan, ...begun(3), cancel(4_000), succeed(5_000, 2))).toEqual([]);
  });
});

describe('a crash within a loop', () => {
  const lost = (execution: number, cause: 'owner' | 'process', now = 9_000): RunInput => ({
    type: 'interrupt',
    now,
    execution,
    cause,
    mayWait: true,
  });

  it('repeats the items that executed, under their keys and with a new stretch', () => {
    const inputs = [...begun(5), succeed(3_000, 2), lost(4, 'owner')];
    const state = stateOf(plan, ...inputs);
    expect(executingNow(state)).toEqual([3, 4]);
    expect(nextExecution(plan, state, 3)).toMatchObject({ item: 1, deadline: 39_000, run: { attempt: 1 } });
    expect(last(plan, ...inputs, succeed(10_000, 3))).toEqual(['ItemSucceeded', 'ItemStarted 3.1']);
  });

  it('repeats one item whose process another run ended, three times at most', () => {
    const interrupts = [1, 2, 3].map((n) => lost(2, 'process', n * 10_000));
    const state = stateOf(plan, ...begun(2), ...interrupts);
    expect(nextExecution(plan, state, 2)).toMatchObject({ deadline: 60_000 });
    expect(nextExecution(plan, state, 3)).toMatchObject({ deadline: 32_000 });
    expect(last(plan, ...begun(2), ...interrupts, lost(2, 'process'))).toEqual(['ItemFailed ProcessExited']);
  });
});

describe('what a loop writes', () => {
  it('is one part an item, and a head that does not grow', () => {
    const decider = runDecider(plan);
    let state = stateOf(plan, ...begun(1_000));
    const heads: number[] = [];
    for (let item = 0; item < 998; item++) {
      const before = state;
      for (const fact of decider.decide(succeed(3_000, item + 2), before)) state = decider.evolve(state, fact);
      expect(Object.keys(changedParts(before, state))).toEqual([`item/a/${item}`]);
      heads.push(JSON.stringify(state.head).length);
    }
    expect(Math.max(...heads)).toBeLessThan(1_000);
  });

  it('goes to a replay from a later step as a whole', () => {
    const failed = stateOf(plan, ...begun(1), succeed(3_000, 2), fail(4_000, 3, 'E_B'));
    const replay = replayStart(plan, failed, {
      from: 'failed',
      startsWith: null,
      isTest: false,
      event: null,
      by: { userId: 'u_1', apiKeyId: null },
    });
    if ('refused' in replay) throw new Error(replay.refused);
    expect(shown(plan, arrive({ reused: replay.reused }))).toMatchObject({
      $return_value: [1],
      $items: [{ index: 0, state: 'succeeded' }],
    });
  });
});
