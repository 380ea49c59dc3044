import { describe, expect, it } from '@jest/globals';
import { fold } from '#libs/kernel/decider.js';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { runDecider } from './run-decider.js';
import { type RunInput } from './run-inputs.js';
import { RUN_BYTES } from './run-limits.js';
import { outcomeOf } from './run-state.js';
import {
  arrive,
  cancel,
  factsOf,
  fail,
  failure,
  last,
  origin,
  planOf,
  resume,
  result,
  start,
  stateOf,
  step,
  succeed,
} from './testing/run-samples.js';

const ab = planOf([step('a'), step('b')]);

describe('a run that arrives', () => {
  it('is kept with its event, queued', () => {
    given(runDecider(ab))
      .when(arrive())
      .then({ type: 'RunArrived', data: { origin, place: 1, event: '{"a":1}', reused: [] } });
    expect(stateOf(ab, arrive()).head.status).toBe('queued');
  });

  it('is there once, however often its invocation comes', () => {
    expect(last(ab, arrive(), arrive())).toEqual([]);
    expect(last(ab, arrive(), start(2), cancel(3), arrive())).toEqual([]);
  });

  it('starts at its first step, pinned to the version that is deployed then', () => {
    const facts = factsOf(ab, arrive());
    given(runDecider(ab), facts)
      .when(start(2_000))
      .then(
        { type: 'RunStarted', data: { at: 2_000, deadline: 32_000, version: { deploymentId: 'd_1', version: 1 } } },
        { type: 'StepStarted', data: { at: 2_000, namespace: 'a', runs: 1, attempt: 1 } },
      );
    expect(last(ab, arrive(), start(2), start(3))).toEqual([]);
  });

  it('fails when the queue is full, and keeps its event for a replay', () => {
    const refused = stateOf(ab, arrive(), { type: 'refuse', now: 2, queueSize: 100 });
    expect(refused.head.status).toBe('failed');
    expect(refused.parts).toMatchObject({ event: '{"a":1}' });
    expect(refused.parts.end).toContain('EventQueueFull');
    expect(last(ab, arrive(), start(2), { type: 'refuse', now: 2, queueSize: 100 })).toEqual([]);
    expect(last(ab, arrive(), cancel(2), { type: 'refuse', now: 2, queueSize: 100 })).toEqual([]);
  });

  it('exits at once when its caller asked for no run', () => {
    expect(last(ab, arrive({ notrigger: true }))).toEqual(['RunArrived', 'RunExited']);
  });

  it('fails with an event that is too large or too deep', () => {
    const large = stateOf(ab, arrive({ event: JSON.stringify('x'.repeat(RUN_BYTES)) }));
    expect(large.head.status).toBe('failed');
    expect(large.head.bytes).toBeLessThan(2_000);
    expect(large.parts.end).toContain('FunctionPayloadLimitExceeded');
    expect(last(ab, arrive({ event: '['.repeat(257) + ']'.repeat(257) }))).toEqual([
      'RunArrived',
      'RunFailed JSONNestedPropertyLimitExceeded',
    ]);
  });

  it('succeeds without steps', () => {
    expect(last(planOf([]), arrive(), start(2))).toEqual(['RunStarted', 'RunSucceeded']);
  });

  it('ignores everything before it exists', () => {
    for (const input of [start(1), succeed(1, 1), resume(1, null), cancel(1)]) expect(last(ab, input)).toEqual([]);
  });
});

describe('the outcome of a step', () => {
  it('and the start of the next are one decision', () => {
    expect(last(ab, arrive(), start(2), succeed(3, 1))).toEqual(['StepSucceeded', 'StepStarted b 1.1']);
    expect(last(ab, arrive(), start(2), succeed(3, 1), succeed(4, 2))).toEqual(['StepSucceeded', 'RunSucceeded']);
  });

  it('counts once, and only while its execution runs', () => {
    expect(last(ab, arrive(), start(2), succeed(3, 1), succeed(3, 1))).toEqual([]);
    expect(last(ab, arrive(), start(2), succeed(3, 2))).toEqual([]);
    expect(last(ab, arrive(), start(2), cancel(3), succeed(3, 1))).toEqual([]);
  });

  it('is stored with all that the execution left', () => {
    const logs = [{ k: 'console.log', ts: 2, msg: 'x' }];
    const done = succeed(9, 1, null, { exports: { 'a"': '{"b":1}', $summary: '"s"' }, logs, props: '{"p":1}' });
    const { parts } = stateOf(ab, arrive(), start(2), done);
    expect(JSON.parse(parts['exports/a'] ?? '')).toEqual({ 'a"': { b: 1 }, $summary: 's' });
    expect(parts['props/a']).toBe('{"p":1}');
    expect(JSON.parse(parts['logs/a'] ?? '')).toEqual(logs);
    expect(outcomeOf({ head: stateOf(ab).head, parts }, 'a')).toMatchObject({
      startedAt: 2,
      endedAt: 9,
      durationMs: 7,
    });
  });

  it('skips what is disabled, what its `if` skips, and handlers that no error leads to', () => {
    const plan = planOf([
      step('a', { onError: 'h' }),
      step('off', { disabled: true }),
      step('h'),
      step('c', { hasIf: true }),
    ]);
    expect(last(plan, arrive(), start(2), succeed(3, 1))).toEqual([
      'StepSucceeded',
      'StepSkipped off disabled',
      'StepSkipped h handler',
      'StepStarted c 1.1',
    ]);
    const skipped: RunInput = { type: 'outcome', now: 4, execution: 2, mayWait: true, outcome: { kind: 'skipped' } };
    expect(last(plan, arrive(), start(2), succeed(3, 1), skipped)).toEqual(['StepSkipped c if', 'RunSucceeded']);
  });

  it('ends a run that exits, with its exports', () => {
    const exits = succeed(3, 1, { kind: 'exit', reason: 'enough' });
    expect(last(ab, arrive(), start(2), exits)).toEqual(['StepSucceeded', 'RunExited']);
    expect(stateOf(ab, arrive(), start(2), exits).parts).toMatchObject({
      end: 'enough',
      'exports/a': '{"$return_value":1}',
    });
  });

  it('moves the deadline when the step asked for more time, to an hour a stretch at most', () => {
    const refreshed = (refreshedAt: number) =>
      stateOf(ab, arrive(), start(0), succeed(9, 1, null, { refreshedAt })).head.stretch;
    expect(refreshed(20_000)).toEqual({ startedAt: 0, deadline: 50_000 });
    expect(refreshed(3_590_000)).toEqual({ startedAt: 0, deadline: 3_600_000 });
    expect(refreshed(-5_000)).toEqual({ startedAt: 0, deadline: 30_000 });
  });
});

describe('a step that fails', () => {
  it('ends the run, and the steps after it stay pending', () => {
    expect(last(ab, arrive(), start(2), fail(3, 1, 'E_X'))).toEqual(['StepFailed E_X', 'RunFailed E_X']);
    const state = stateOf(ab, arrive(), start(2), fail(3, 1, 'E_X'));
    expect(JSON.parse(state.parts.end ?? '')).toMatchObject({ code: 'E_X', namespace: 'a' });
    expect(outcomeOf(state, 'b')).toBeUndefined();
  });

  it('goes on with `continue`, past handlers', () => {
    const plan = planOf([step('a', { onError: 'continue' }), step('b', { onError: 'h' }), step('h'), step('c')]);
    expect(last(plan, arrive(), start(2), fail(3, 1, 'E_X'))).toEqual(['StepFailed E_X', 'StepStarted b 1.1']);
    const next = planOf([step('a', { onError: 'continue' }), step('h')]);
    expect(
      last({ ...next, steps: [...next.steps, step('z', { onError: 'h' })] }, arrive(), start(2), fail(3, 1, 'E')),
    ).toEqual(['StepFailed E', 'StepSkipped h handler', 'StepStarted z 1.1']);
  });

  it('goes on at its handler, and past it when that is disabled', () => {
    const plan = (disabled: boolean) =>
      planOf([step('a', { onError: 'h' }), step('b'), step('h', { disabled }), step('c')]);
    expect(last(plan(false), arrive(), start(2), fail(3, 1, 'E_X'))).toEqual([
      'StepFailed E_X',
      'StepSkipped b on_error',
      'StepStarted h 1.1',
    ]);
    expect(last(plan(true), arrive(), start(2), fail(3, 1, 'E_X'))).toEqual([
      'StepFailed E_X',
      'StepSkipped b on_error',
      'StepSkipped h disabled',
      'StepStarted c 1.1',
    ]);
  });

  it('goes on in a new stretch after a timeout only', () => {
    const plan = planOf([step('a', { onError: 'continue' }), step('b')]);
    expect(last(plan, arrive(), start(2), fail(30_002, 1, 'Timeout'))).toContain('StretchBegun');
    expect(stateOf(plan, arrive(), start(2), fail(30_002, 1, 'Timeout')).head.stretch?.deadline).toBe(60_002);
  });

  it('never goes back', () => {
    const plan = planOf([step('a'), step('b', { onError: 'a' })]);
    expect(last(plan, arrive(), start(2), fail(3, 1, 'E_X'))).toEqual(['StepFailed E_X', 'RunFailed E_X']);
  });

  it.each(['HostEnded', 'WaitingLimitExceeded'])('ends the run by %s whatever its on_error says', (code) => {
    const plan = planOf([step('a', { onError: 'continue' }), step('b')]);
    expect(last(plan, arrive(), start(2), fail(3, 1, code))).toEqual([`StepFailed ${code}`, `RunFailed ${code}`]);
  });

  it('keeps no exports beyond the limit of the run, nor what nests too deep', () => {
    const large = succeed(3, 1, null, { exports: { big: JSON.stringify('x'.repeat(RUN_BYTES)) } });
    const state = stateOf(ab, arrive(), start(2), large);
    expect(state.head.bytes).toBeLessThan(3_000);
    expect(last(ab, arrive(), start(2), large)).toEqual([
      'StepFailed FunctionPayloadLimitExceeded',
      'RunFailed FunctionPayloadLimitExceeded',
    ]);
    const deep = succeed(3, 1, null, { exports: { deep: '['.repeat(257) + ']'.repeat(257) } });
    expect(last(ab, arrive(), start(2), deep)[0]).toBe('StepFailed JSONNestedPropertyLimitExceeded');
    const named = succeed(3, 1, null, { exports: { props: '['.repeat(257) + ']'.repeat(257) } });
    expect(last(ab, arrive(), start(2), named)[0]).toBe('StepFailed JSONNestedPropertyLimitExceeded');
    const fits = succeed(3, 1, null, { exports: { deep: '['.repeat(256) + ']'.repeat(256) } });
    expect(last(ab, arrive(), start(2), fits)[0]).toBe('StepSucceeded');
    const mail = succeed(3, 1, null, { sends: [{ kind: 'email', bytes: RUN_BYTES }] });
    expect(last(ab, arrive(), start(2), mail)[0]).toBe('StepFailed FunctionPayloadLimitExceeded');
  });

  it('names its own error as the cause when what it left exceeds the limit', () => {
    const large = fail(3, 1, 'E_X', { exports: { big: JSON.stringify('x'.repeat(RUN_BYTES)) } });
    const end = JSON.parse(stateOf(ab, arrive(), start(2), large).parts.end ?? '') as { cause: { code: string } };
    expect(end).toMatchObject({ code: 'FunctionPayloadLimitExceeded', cause: { code: 'E_X' } });
  });

  it('fills no store by its errors, however large they and their causes are', () => {
    const plan = planOf(Array.from({ length: 100 }, (_, i) => step(`s${i}`, { onError: 'continue' })));
    const decider = runDecider(plan);
    const huge = { ...failure('E_X'), message: '\u0001'.repeat(1e6), stack: 'é'.repeat(1e6) };
    let state = stateOf(plan, arrive(), start(0));
    for (let execution = 1; execution <= 100; execution++) {
      const outcome = {
        kind: 'failed',
        result: result({ exports: { big: `"${'x'.repeat(100_000)}"` } }),
        error: { ...huge, cause: huge },
      } as const;
      const facts = decider.decide({ type: 'outcome', now: execution, execution, mayWait: true, outcome }, state);
      expect(JSON.stringify(facts).length).toBeLessThan(500_000);
      state = facts.reduce((s, fact) => decider.evolve(s, fact), state);
    }
    expect(state.head.status).toBe('succeeded');
    expect(state.head.bytes).toBeLessThan(RUN_BYTES + 500_000);
  });

  it('keeps 1,000 lines and 256 KB of its log, the last of which says what was dropped', () => {
    const lines = (count: number, msg: string) =>
      Array.from({ length: count }, (_, ts) => ({ k: 'console.log', ts, msg }));
    const kept = (count: number, msg: string) => {
      const { parts } = stateOf(ab, arrive(), start(2), succeed(3, 1, null, { logs: lines(count, msg) }));
      return JSON.parse(parts['logs/a'] ?? '[]') as { k: string; msg: string }[];
    };
    expect(kept(1_000, 'x')).toHaveLength(1_000);
    expect(kept(1_000, 'x').at(-1)?.k).toBe('console.log');
    expect(kept(1_500, 'x')).toHaveLength(1_000);
    expect(kept(1_500, 'x').at(-1)?.msg).toMatch(/^501 lines were dropped/);
    expect(kept(3, 'y'.repeat(200 * 1024))).toHaveLength(2);
  });
});

describe('a retry', () => {
  const retry = { maxRetries: 2, delaySeconds: 10, backoff: 'exponential', alsoOn: ['Timeout'] } as const;
  const plan = planOf([step('a', { retry }), step('b')]);
  const again = (now: number, execution: number): RunInput[] => [
    { type: 'alarm', now, execution, dueAt: now },
    start(now),
  ];

  it('waits longer each time, and is the same execution to its author', () => {
    const once = [arrive(), start(0), fail(0, 1, 'E_X')];
    expect(last(plan, ...once)).toEqual(['StepFailed E_X for now', 'WaitBegun retry until 10000']);
    expect(last(plan, ...once, ...again(10_000, 1))).toEqual(['StretchBegun', 'StepStarted a 1.2']);
    const twice = [...once, ...again(10_000, 1), fail(10_000, 2, 'E_X')];
    expect(last(plan, ...twice)).toEqual(['StepFailed E_X for now', 'WaitBegun retry until 30000']);
    const thrice = [...twice, ...again(30_000, 2), fail(30_000, 3, 'E_X')];
    expect(last(plan, ...thrice)).toEqual(['StepFailed E_X', 'RunFailed E_X']);
    const saved = [...twice, ...again(30_000, 2), succeed(30_005, 3)];
    expect(outcomeOf(stateOf(plan, ...saved), 'a')).toMatchObject({ state: 'succeeded', attempts: 3, error: null });
  });

  it('comes at once when it is resumed', () => {
    const resumed = [arrive(), start(0), fail(0, 1, 'E_X'), resume(5, null), start(5)];
    expect(last(plan, ...resumed)).toEqual(['StretchBegun', 'StepStarted a 1.2']);
    expect(stateOf(plan, ...resumed).parts['resume/a']).toBeUndefined();
    const deep = resume(5, null, '['.repeat(257) + ']'.repeat(257));
    expect(last(plan, arrive(), start(0), fail(0, 1, 'E_X'), deep)).toEqual(['WaitEnded']);
  });

  it.each(['ExpressionError', 'ConfigurationError', 'OutOfMemory', 'FunctionPayloadLimitExceeded', 'HostEnded'])(
    'does not follow %s',
    (code) => {
      expect(last(plan, arrive(), start(0), fail(0, 1, code))[0]).toBe(`StepFailed ${code}`);
    },
  );

  it('follows a timeout when the policy names it', () => {
    expect(last(plan, arrive(), start(0), fail(0, 1, 'Timeout'))[0]).toBe('StepFailed Timeout for now');
  });

  it('of a test run never comes', () => {
    const test = arrive({ origin: { ...origin, test: true } });
    expect(last(plan, test, start(0), fail(0, 1, 'E_X'))[0]).toBe('StepFailed E_X');
  });

  it('comes eight times with auto_retry, over 35,955 s, and may tell of the first error', () => {
    const auto = planOf([step('a')], { autoRetry: { notifyFirstError: true, alsoOn: [] } });
    const decider = runDecider(auto);
    let facts = factsOf(auto, arrive(), start(0));
    let now = 0;
    const notified: boolean[] = [];
    for (let execution = 1; execution <= 9; execution++) {
      const failed = decider.decide(fail(now, execution, 'E_X'), fold(decider, facts));
      for (const fact of failed) if (fact.type === 'StepFailed') notified.push(fact.data.notifies);
      facts = [...facts, ...failed];
      now = fold(decider, facts).head.wait?.resumeAt ?? now;
      for (const input of again(now, execution)) facts = [...facts, ...decider.decide(input, fold(decider, facts))];
    }
    expect(now).toBe(35_955_000);
    expect(notified).toEqual([true, ...Array.from({ length: 8 }, () => false)]);
    expect(fold(decider, facts).head.status).toBe('failed');
  });

  it('tells of no first error that the run handles', () => {
    const steps = [step('a', { onError: 'continue' })];
    const handled = planOf(steps, { autoRetry: { notifyFirstError: true, alsoOn: [] } });
    expect(factsOf(handled, arrive(), start(0), fail(0, 1, 'E_X')).at(-2)).toMatchObject({ data: { notifies: false } });
  });

  it('fails the run when too many wait', () => {
    const full = { ...fail(0, 1, 'E_X'), mayWait: false } as RunInput;
    expect(last(plan, arrive(), start(0), full)).toEqual([
      'StepFailed WaitingLimitExceeded',
      'RunFailed WaitingLimitExceeded',
    ]);
  });
});

describe('an execution that is lost', () => {
  const lost = (cause: 'owner' | 'process', execution = 1): RunInput => ({
    type: 'interrupt',
    now: 50_000,
    execution,
    cause,
    mayWait: true,
  });

  it('starts again under the same number, in a new stretch, and is no attempt', () => {
    const { head } = stateOf(ab, arrive(), start(2), lost('owner'));
    expect(head).toMatchObject({ status: 'running', executions: 1, stretch: { startedAt: 50_000, deadline: 80_000 } });
    expect(head.position).toMatchObject({ runs: 1, attempt: 1, startedAt: 50_000 });
    expect(last(ab, arrive(), start(2), ...Array.from({ length: 9 }, () => lost('owner')))).toEqual([
      'StepInterrupted',
    ]);
    expect(last(ab, arrive(), start(2), lost('owner', 2))).toEqual([]);
  });

  it('fails when other runs have ended its process for the fourth time', () => {
    const three = [arrive(), start(2), lost('process'), lost('process'), lost('process')];
    expect(last(ab, ...three)).toEqual(['StepInterrupted']);
    expect(last(ab, ...three, lost('process'))).toEqual(['StepFailed ProcessExited', 'RunFailed ProcessExited']);
  });

  it('leaves no time in the durations', () => {
    const state = stateOf(ab, arrive(), start(2), lost('owner'), succeed(50_007, 1));
    expect(outcomeOf(state, 'a')).toMatchObject({ durationMs: 7 });
    expect(state.head.executedMs).toBe(7);
  });
});
