import { describe, expect, it } from '@jest/globals';
import { type StepFlow } from '#libs/component-model/step-run.js';
import { type RunInput } from './run-inputs.js';
import { RUN_BYTES } from './run-limits.js';
import { type RunState, outcomeOf } from './run-state.js';
import { alarmOf, cancelAnswer, isVoid, resumeAnswer } from './run-steering.js';
import {
  arrive,
  cancel,
  fail,
  last as lastWith,
  origin,
  planOf,
  resume,
  start,
  stateOf as stateWith,
  step,
  succeed,
} from './testing/run-samples.js';

const ab = planOf([step('a'), step('b')]);

const stateOf = (...inputs: RunInput[]): RunState => stateWith(ab, ...inputs);
const last = (...inputs: RunInput[]): string[] => lastWith(ab, ...inputs);

const after = (flow: StepFlow, ...inputs: RunInput[]): RunInput[] => [
  arrive(),
  start(0),
  succeed(0, 1, flow),
  ...inputs,
];
const delay: StepFlow = { kind: 'delay', ms: 2_000 };
const suspend: StepFlow = { kind: 'suspend', ms: 5_000 };
const rerun: StepFlow = { kind: 'rerun', ms: 100, context: '{"n":1}', maxRetries: 3 };
const alarm = (execution: number, dueAt: number): RunInput => ({ type: 'alarm', now: dueAt + 7, execution, dueAt });

describe('a run that waits', () => {
  it('has its outcome and its wait in one decision, and one alarm', () => {
    expect(last(...after(delay))).toEqual(['StepSucceeded', 'WaitBegun delay until 2000']);
    const state = stateOf(...after(delay));
    expect(state.head).toMatchObject({ status: 'waiting', stretch: null });
    expect(alarmOf('run_1', state)).toEqual({ id: 'run_1/1.2000', dueAt: 2_000 });
  });

  it('goes on with the next step after a delay, in a new stretch, once it is admitted', () => {
    expect(last(...after(delay, alarm(1, 2_000)))).toEqual(['WaitEnded']);
    expect(stateOf(...after(delay, alarm(1, 2_000))).head.status).toBe('queued');
    expect(last(...after(delay, alarm(1, 2_000), start(2_010)))).toEqual(['StretchBegun', 'StepStarted b 1.1']);
    const { head, parts } = stateOf(...after(delay, alarm(1, 2_000), start(2_010)));
    expect(head).toMatchObject({ stretch: { startedAt: 2_010, deadline: 32_010 }, startedAt: 0 });
    expect(parts['resume/a']).toBeUndefined();
    expect(alarmOf('run_1', { head, parts })).toBeNull();
  });

  it('is cancelled when a suspension times out', () => {
    expect(last(...after(suspend, alarm(1, 5_000)))).toEqual(['RunCancelled suspend_timeout']);
  });

  it('goes on with the data of a resume', () => {
    const state = stateOf(...after(suspend, resume(9, 1)));
    expect(state.parts['resume/a']).toBe('{"body":1}');
    expect(last(...after(suspend, resume(9, 1), start(10)))).toEqual(['StretchBegun', 'StepStarted b 1.1']);
  });

  it('runs the step again by rerun, with its context and the request that ended the wait', () => {
    const inputs = after(rerun, resume(9, 1), start(10));
    expect(last(...inputs)).toEqual(['StretchBegun', 'StepStarted a 2.1']);
    expect(stateOf(...inputs).parts).toMatchObject({ context: '{"n":1}', callback: '{"body":1}' });
    expect(stateOf(...inputs).parts['resume/a']).toBeUndefined();
    const { parts } = stateOf(...inputs, succeed(11, 2));
    expect([parts.context, parts.callback]).toEqual([undefined, undefined]);
    expect(outcomeOf({ head: stateOf().head, parts }, 'a')).toMatchObject({ runs: 2, attempts: 1 });
  });

  it('runs a step four times that asks for three reruns, and then goes on', () => {
    const inputs = after(rerun);
    for (let execution = 1; execution <= 3; execution++) {
      const { wait } = stateOf(...inputs).head;
      inputs.push(alarm(execution, wait?.resumeAt ?? 0), start(0), succeed(execution * 100, execution + 1, rerun));
    }
    expect(last(...inputs)).toEqual(['StepSucceeded', 'StepStarted b 1.1']);
    expect(outcomeOf(stateOf(...inputs), 'a')).toMatchObject({ runs: 4 });
  });

  it('keeps the context of a rerun over a retry', () => {
    const retry = { maxRetries: 1, delaySeconds: 1, backoff: 'fixed', alsoOn: [] } as const;
    const plan = planOf([step('a', { retry })]);
    const state = stateWith(plan, ...after(rerun, alarm(1, 100), start(100), fail(100, 2, 'E')));
    expect(state.head.wait?.kind).toBe('retry');
    expect(state.parts.context).toBe('{"n":1}');
  });

  it('does not wait in a test', () => {
    for (const flow of [delay, suspend, rerun]) {
      const test = arrive({ origin: { ...origin, test: true } });
      expect(last(test, start(0), succeed(0, 1, flow))).toEqual(['StepSucceeded', 'StepStarted b 1.1']);
    }
  });

  it('fails when too many wait, with what the step left', () => {
    const full = { ...succeed(0, 1, delay), mayWait: false } as RunInput;
    expect(last(arrive(), start(0), full)).toEqual([
      'StepFailed WaitingLimitExceeded',
      'RunFailed WaitingLimitExceeded',
    ]);
    expect(stateOf(arrive(), start(0), full).parts['exports/a']).toBe('{"$return_value":1}');
  });

  it('does not wait when it throws after it asked', () => {
    expect(last(arrive(), start(0), resume(0, 1), fail(0, 1, 'E'))).toEqual(['StepFailed E', 'RunFailed E']);
  });
});

describe('of timer, URL, resume and cancel', () => {
  const ends: readonly RunInput[] = [alarm(1, 2_000), resume(9, 1), resume(9, null), cancel(9), cancel(9, 1)];

  it.each(ends.flatMap((first) => ends.map((second) => [first, second] as const)))(
    'the first decides: %j, then %j',
    (first, second) => {
      expect(last(...after(delay, first))).toHaveLength(1);
      const late = last(...after(delay, first, second));
      // A run whose wait has ended may still be cancelled by the API, but not by the URL of that wait.
      const isNewCancel = second.type === 'cancel' && second.execution === null && first.type !== 'cancel';
      expect(late).toEqual(isNewCancel ? ['RunCancelled api'] : []);
    },
  );

  it.each([
    ['another execution', alarm(2, 2_000)],
    ['a wait that a crash lost, whose execution was repeated', alarm(1, 1_500)],
  ])('an alarm of %s is old', (_, old) => {
    expect(last(...after(delay, old))).toEqual([]);
  });

  it('a URL of an earlier execution finds no wait', () => {
    const inputs = after(delay, alarm(1, 2_000), start(2_000), succeed(2_000, 2, suspend));
    expect(last(...inputs, resume(3_000, 1))).toEqual([]);
    expect(last(...inputs, cancel(3_000, 1))).toEqual([]);
    expect(last(...inputs, resume(3_000, 2))).toEqual(['WaitEnded']);
  });
});

describe('a resume while its step runs', () => {
  it('is kept, and ends the wait as it begins', () => {
    expect(last(arrive(), start(0), resume(1, 1))).toEqual(['ResumeKept']);
    expect(last(arrive(), start(0), resume(1, 1), succeed(2, 1, suspend))).toEqual([
      'StepSucceeded',
      'WaitBegun suspend until 5002',
      'WaitEnded',
    ]);
    const { head, parts } = stateOf(arrive(), start(0), resume(1, 1), succeed(2, 1, suspend));
    expect(head.status).toBe('queued');
    expect(parts).toMatchObject({ 'resume/a': '{"body":1}' });
    expect(parts.kept).toBeUndefined();
  });

  it('is kept once, survives the loss of the execution, and goes with a step that does not wait', () => {
    expect(last(arrive(), start(0), resume(1, 1), resume(2, 1, '"two"'))).toEqual([]);
    const lost: RunInput = { type: 'interrupt', now: 2, execution: 1, cause: 'owner', mayWait: true };
    expect(stateOf(arrive(), start(0), resume(1, 1), lost).parts.kept).toBeDefined();
    expect(stateOf(arrive(), start(0), resume(1, 1), succeed(2, 1)).parts.kept).toBeUndefined();
  });
});

describe('what a request is told', () => {
  it.each([
    ['a waiting run', after(delay), 'ends', 'cancels'],
    ['a running one', [arrive(), start(0)], 'over', 'cancels'],
    ['one that has not started', [arrive()], 'over', 'cancels'],
    ['one that was cancelled', [arrive(), cancel(1)], 'over', 'already'],
    ['one that has ended', [arrive({ notrigger: true })], 'over', 'finished'],
  ])('of the API, by %s', (_, inputs, resumes, cancels) => {
    expect(resumeAnswer(stateOf(...inputs), { execution: null })).toBe(resumes);
    expect(cancelAnswer(stateOf(...inputs), { execution: null })).toBe(cancels);
  });

  it.each([
    ['its wait', after(delay), 'ends', 'cancels'],
    ['its running step', [arrive(), start(0)], 'kept', 'cancels'],
    ['its running step, again', [arrive(), start(0), resume(1, 1)], 'over', 'cancels'],
    ['its wait that is over', after(delay, resume(1, 1)), 'over', 'over'],
    ['a run that was cancelled', [arrive(), start(0), cancel(1)], 'over', 'over'],
  ])('of a URL, for %s', (_, inputs, resumes, cancels) => {
    expect(resumeAnswer(stateOf(...inputs), { execution: 1 })).toBe(resumes);
    expect(cancelAnswer(stateOf(...inputs), { execution: 1 })).toBe(cancels);
    expect(isVoid(stateOf(...inputs), 1)).toBe(cancels === 'over');
    expect(isVoid(stateOf(...inputs), 2)).toBe(false);
  });
});

describe('a request that comes again', () => {
  const request: RunInput = { type: 'resume', now: 9, execution: null, data: '1', by: null, request: 'inv_1' };

  it('is told that it ended its wait, and does not end the next', () => {
    const state = stateOf(...after(delay, request));
    expect(resumeAnswer(state, { execution: null, request: 'inv_1' })).toBe('ends');
    expect(resumeAnswer(state, { execution: null, request: 'inv_2' })).toBe('over');
    expect(last(...after(rerun, request, start(10), succeed(11, 2, rerun), request))).toEqual([]);
  });

  it('is kept once while the step still runs', () => {
    const early: RunInput = { ...request, execution: 1 };
    const state = stateOf(arrive(), start(0), early);
    expect(resumeAnswer(state, { execution: 1, request: 'inv_1' })).toBe('kept');
    expect(resumeAnswer(state, { execution: 1, request: 'inv_2' })).toBe('over');
    expect(last(arrive(), start(0), early, early)).toEqual([]);
  });

  it('is told that it cancelled the run', () => {
    const state = stateOf(...after(suspend, { ...cancel(9, 1), request: 'inv_1' } as RunInput));
    expect(cancelAnswer(state, { execution: 1, request: 'inv_1' })).toBe('cancels');
    expect(cancelAnswer(state, { execution: 1, request: 'inv_2' })).toBe('over');
  });
});

describe('data of a resume', () => {
  it('beyond the limit of the run fails it, and is not kept', () => {
    const large = resume(9, 1, JSON.stringify('x'.repeat(RUN_BYTES)));
    expect(last(...after(suspend, large))).toEqual(['WaitEnded', 'RunFailed FunctionPayloadLimitExceeded']);
    expect(stateOf(...after(suspend, large)).head.bytes).toBeLessThan(3_000);
    const deep = resume(9, 1, '['.repeat(257) + ']'.repeat(257));
    expect(last(...after(suspend, deep))).toEqual(['WaitEnded', 'RunFailed JSONNestedPropertyLimitExceeded']);
  });
});

describe('a reply', () => {
  const reply = { status: 201, text: '{"status":201}', sentAt: null };

  it('is sent at the first wait or at the end, and the first one counts', () => {
    const waits = stateOf(arrive(), start(0), succeed(5, 1, delay, { reply }));
    expect(waits.head.reply).toEqual({ status: 201, sentAt: 5 });
    const second = { ...reply, status: 500, text: '2' };
    const both = [arrive(), start(0), succeed(5, 1, null, { reply }), fail(9, 2, 'E', { reply: second })];
    expect(stateOf(...both).head.reply).toEqual({ status: 201, sentAt: 9 });
    expect(stateOf(...both).parts.reply).toBe('{"status":201}');
    expect(stateOf(...both.slice(0, 3)).head.reply?.sentAt).toBeNull();
  });

  it('is not sent because a failed step is tried again', () => {
    const retry = { maxRetries: 1, delaySeconds: 1, backoff: 'fixed', alsoOn: [] } as const;
    const state = stateWith(planOf([step('a', { retry })]), arrive(), start(0), fail(5, 1, 'E', { reply }));
    expect(state.head.reply).toEqual({ status: 201, sentAt: null });
  });

  it('is dropped where nobody waits', () => {
    const alone = arrive({ origin: { ...origin, hasCaller: false } });
    expect(stateOf(alone, start(0), succeed(5, 1, null, { reply })).head.reply).toBeNull();
  });
});
