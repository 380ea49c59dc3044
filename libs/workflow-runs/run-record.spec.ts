import { describe, expect, it } from '@jest/globals';
import { nextExecution, stepTexts } from './next-execution.js';
import { type RunInput } from './run-inputs.js';
import { type RunPlan } from './run-plan.js';
import { runRecord, stepRecords } from './run-record.js';
import { PARTS } from './run-state.js';
import { arrive, cancel, fail, origin, planOf, resume, start, stateOf, step, succeed } from './testing/run-samples.js';

const ab = planOf([step('a'), step('b')]);

const states = (plan: RunPlan, ...inputs: RunInput[]): string[] =>
  stepRecords(plan, stateOf(plan, ...inputs)).map(({ state, skip_reason }) =>
    skip_reason ? `${state} ${skip_reason}` : state,
  );
const delay = succeed(5, 1, { kind: 'delay', ms: 100 });
const alarm: RunInput = { type: 'alarm', now: 105, execution: 1, dueAt: 105 };

describe('the record of a run', () => {
  it('is whole at its arrival', () => {
    expect(runRecord(ab, stateOf(ab, arrive()), 'Orders')).toEqual({
      id: 'run_1',
      workflow_id: 'p_1',
      workflow_name: 'Orders',
      deployment_id: null,
      version: null,
      owner_id: 'o_1',
      state: 'queued',
      trigger: { type: 'http', id: 'hi_1', name: 'http' },
      test: false,
      replay_of: null,
      replay_from: null,
      trace_id: 'run_1',
      hops: 0,
      created_at_ms: 1_000,
      started_at_ms: null,
      ended_at_ms: null,
      duration_ms: 0,
      waiting: null,
      error: null,
      exit_reason: null,
      cancel_reason: null,
      response: null,
      cancelled_by: null,
      resumed_by: null,
      replayed_by: null,
    });
  });

  it('shows its wait, and the time executing without it', () => {
    const inputs = [arrive(), start(2), delay];
    expect(runRecord(ab, stateOf(ab, ...inputs), '')).toMatchObject({
      state: 'waiting',
      waiting: { kind: 'delay', namespace: 'a', since_ms: 5, resume_at_ms: 105 },
    });
    expect(runRecord(ab, stateOf(ab, ...inputs, alarm, start(200), succeed(207, 2)), '')).toMatchObject({
      state: 'succeeded',
      version: 1,
      waiting: null,
      started_at_ms: 2,
      ended_at_ms: 207,
      duration_ms: 10,
    });
  });

  it('shows how it ended, and by whom', () => {
    expect(runRecord(ab, stateOf(ab, arrive(), start(2), fail(5, 1, 'E_X')), '').error).toEqual({
      code: 'E_X',
      name: 'E_X',
      message: 'it was E_X',
      stack: '',
      ts: '1970-01-01T00:00:00.005Z',
      cellId: 'c_a',
      namespace: 'a',
    });
    const by = { userId: 'u_1', apiKeyId: 'key_1' };
    const cancelled = stateOf(ab, arrive(), { ...cancel(3), by } as RunInput);
    const expected = { cancel_reason: 'api', cancelled_by: { user_id: 'u_1', api_key_id: 'key_1' }, exit_reason: null };
    expect(runRecord(ab, cancelled, '')).toMatchObject(expected);
    const exited = stateOf(ab, arrive(), start(2), succeed(3, 1, { kind: 'exit', reason: 'enough' }));
    expect(runRecord(ab, exited, '')).toMatchObject({ state: 'exited', exit_reason: 'enough', error: null });
    const resumed = stateOf(ab, arrive(), start(2), delay, { ...resume(9, null), by } as RunInput);
    expect(runRecord(ab, resumed, '').resumed_by).toEqual({ user_id: 'u_1', api_key_id: 'key_1' });
  });
});

describe('the record of a step', () => {
  const again = { kind: 'rerun', ms: 100, context: null, maxRetries: 3 } as const;

  it.each<[string, RunInput[], string[]]>([
    ['queued', [arrive()], ['pending', 'pending']],
    ['running', [arrive(), start(2)], ['running', 'pending']],
    ['running the next', [arrive(), start(2), succeed(3, 1)], ['succeeded', 'running']],
    ['waiting', [arrive(), start(2), delay], ['waiting', 'pending']],
    ['queued after a delay', [arrive(), start(2), delay, alarm], ['succeeded', 'pending']],
    ['queued for a rerun', [arrive(), start(2), succeed(5, 1, again), alarm], ['waiting', 'pending']],
    ['running again', [arrive(), start(2), succeed(5, 1, again), alarm, start(106)], ['running', 'pending']],
    ['failed', [arrive(), start(2), fail(3, 1, 'E')], ['failed', 'pending']],
    ['exited', [arrive(), start(2), succeed(3, 1, { kind: 'exit', reason: null })], ['succeeded', 'skipped exit']],
    ['cancelled before its start', [arrive(), cancel(2)], ['pending', 'pending']],
    ['cancelled while it runs', [arrive(), start(2), cancel(3)], ['cancelled', 'pending']],
    ['cancelled while it waits', [arrive(), start(2), delay, cancel(9)], ['cancelled', 'pending']],
    ['cancelled after its wait', [arrive(), start(2), delay, alarm, cancel(106)], ['succeeded', 'pending']],
  ])('of a run that is %s', (_, inputs, expected) => {
    expect(states(ab, ...inputs)).toEqual(expected);
  });

  it('has what its last execution left, and the sum of all', () => {
    const inputs = [
      arrive(),
      start(2),
      succeed(5, 1, again),
      alarm,
      start(200),
      succeed(207, 2, null, { props: '{"p":1}' }),
    ];
    expect(stepRecords(ab, stateOf(ab, ...inputs))[0]).toEqual({
      namespace: 'a',
      id: 'c_a',
      state: 'succeeded',
      skip_reason: null,
      reused: false,
      started_at_ms: 2,
      ended_at_ms: 207,
      duration_ms: 10,
      runs: 2,
      attempts: 1,
      props: { p: 1 },
      exports: { $return_value: 1 },
      logs: [],
      error: null,
      sends: [],
    });
  });

  // docs/reference/workflows.md#run-sends
  it('shows what became of each message that its last execution sent', () => {
    const sends = [
      { kind: 'http', bytes: 1 },
      { kind: 'http', bytes: 1 },
      { kind: 'emit', bytes: 1 },
      { kind: 's3', bytes: 1, error: 'no bucket' },
    ] as const;
    const { head, parts } = stateOf(ab, arrive(), start(2), succeed(5, 1, null, { sends }));
    const shown = (heard: Record<string, object> = {}) => {
      const texts = Object.entries(heard).map(([name, value]) => [name, JSON.stringify(value)] as const);
      return stepRecords(ab, { head, parts: { ...parts, ...Object.fromEntries(texts) } })[0]?.sends ?? [];
    };
    const id = expect.stringMatching(/^snd_/);
    const queued = { id, kind: 'http', state: 'queued', attempts: 0, status: null, error: null };
    const others = [
      { id, kind: 'emit', state: 'sent', attempts: 1, status: null, error: null },
      { id, kind: 's3', state: 'failed', attempts: 0, status: null, error: 'no bucket' },
    ];
    expect(shown()).toEqual([queued, queued, ...others]);
    const outcome = { state: 'failed', attempts: 2, status: 503, error: 'status 503' };
    expect(
      shown({
        'sent/a/0': { id: shown()[0]?.id, order: 1_002, ...outcome },
        // A message of an earlier execution.
        'sent/a/1': { id: 'snd_other', ...outcome },
      }),
    ).toEqual([{ id, kind: 'http', ...outcome }, queued, ...others]);
  });

  it('of a step that is cancelled while it runs has no exports', () => {
    expect(stepRecords(ab, stateOf(ab, arrive(), start(2), cancel(9)))[0]).toMatchObject({
      exports: {},
      duration_ms: 7,
    });
  });

  it('shows a retry without the URLs that end it', () => {
    const retry = { maxRetries: 2, delaySeconds: 1, backoff: 'fixed', alsoOn: [] } as const;
    const plan = planOf([step('a', { retry })]);
    const [a] = stepRecords(plan, stateOf(plan, arrive(), start(2), fail(3, 1, 'E', { exports: { $summary: '"s"' } })));
    const attempt = { cancel_url: '********', rerun_url: '********', resume_ts: '1970-01-01T00:00:01.003Z' };
    expect(a).toMatchObject({ state: 'waiting', ended_at_ms: null, exports: { $summary: 's', $attempt: attempt } });
  });
});

describe('what code is given', () => {
  it('of the steps before it: exports, data of a resume, errors, and nothing of a skipped step', () => {
    const plan = planOf([step('a'), step('off', { disabled: true }), step('b', { onError: 'continue' }), step('c')]);
    const suspend = succeed(3, 1, { kind: 'suspend', ms: 100 }, { exports: {} });
    const texts = stepTexts(
      plan,
      stateOf(plan, arrive(), start(2), suspend, resume(4, 1), start(5), fail(6, 2, 'E_X')),
    );
    expect([...texts.keys()]).toEqual(['a', 'b']);
    expect(JSON.parse(texts.get('a') ?? '')).toEqual({ $resume_data: { body: 1 } });
    const error = { name: 'E_X', message: 'it was E_X', code: 'E_X', stack: '', ts: '1970-01-01T00:00:00.006Z' };
    expect(JSON.parse(texts.get('b') ?? '')).toEqual({ $return_value: 1, $error: error });
  });

  it('of its own execution: number, deadline, key, and whether its `if` is evaluated', () => {
    const plan = planOf([step('a', { hasIf: true, timeoutSeconds: 5 })]);
    const first = stateOf(plan, arrive(), start(1_000));
    expect(nextExecution(plan, first)).toEqual({
      number: 1,
      namespace: 'a',
      stepId: 'c_a',
      mostDeadline: 6_000,
      deadline: 6_000,
      evaluatesIf: true,
      idempotencyKey: 'run_1/a',
      run: { runs: 1, attempt: 1, context: null, callbackRequest: null },
      resume: null,
    });
    const rerun = succeed(2_000, 1, { kind: 'rerun', ms: 10, context: '{"n":1}', maxRetries: 3 });
    const second = stateOf(plan, arrive(), start(1_000), rerun, resume(2_001, 1), start(3_000));
    expect(nextExecution(plan, second)).toMatchObject({
      number: 2,
      deadline: 8_000,
      evaluatesIf: false,
      idempotencyKey: 'run_1/a/run-2',
      run: { runs: 2, attempt: 1, context: '{"n":1}', callbackRequest: '{"body":1}' },
      resume: { namespace: 'a', kind: 'rerun' },
    });
    expect(nextExecution(plan, stateOf(plan, arrive()))).toBeNull();
  });

  it('has the same key over a crash, and that of the failed run in a replay which continues it', () => {
    const lost: RunInput = { type: 'interrupt', now: 9, execution: 1, cause: 'owner', mayWait: true };
    expect(nextExecution(ab, stateOf(ab, arrive(), start(2), lost))).toMatchObject({
      number: 1,
      idempotencyKey: 'run_1/a',
    });
    const { parts } = stateOf(ab, arrive(), start(2), succeed(3, 1), fail(4, 2, 'E_X'));
    const reused = [
      {
        namespace: 'a',
        step: parts[PARTS.step('a')] ?? '',
        exports: parts[PARTS.exports('a')] ?? null,
        resumeData: null,
      },
    ];
    const replay = arrive({
      origin: { ...origin, id: 'run_2', keyRun: 'run_1', replayOf: 'run_1', replayFrom: 'failed' },
      reused,
    });
    const state = stateOf(ab, replay, start(10));
    expect(nextExecution(ab, state)).toMatchObject({ namespace: 'b', idempotencyKey: 'run_1/b' });
    expect(stepRecords(ab, state)).toMatchObject([{ state: 'succeeded', reused: true }, { state: 'running' }]);
    expect(stepTexts(ab, state).get('a')).toBe('{"$return_value":1}');
  });
});
