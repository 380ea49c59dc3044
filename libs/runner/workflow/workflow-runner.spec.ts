import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { type Outcome } from '#libs/workflow-runs/run-inputs.js';
import { PARTS } from '#libs/workflow-runs/run-state.js';
import { WorkflowInstallation, failed, step, succeeded, until } from './testing/workflow-world.js';

const suspended: Outcome = { kind: 'succeeded', result: NO_RESULT, flow: { kind: 'suspend', ms: 60_000 } };

const stepsOf = (calls: readonly { readonly execution: { readonly namespace: string } }[]): readonly string[] =>
  calls.map(({ execution }) => execution.namespace);

describe('a workflow', () => {
  it('runs its steps in order for each event, each with the outcomes of those before', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const { runner, calls } = await installation.process(({ execution }) =>
      succeeded({ exports: { $return_value: `"of ${execution.namespace}"` } }),
    );
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => installation.statusOf(1) === 'succeeded' && installation.statusOf(0) === 'succeeded');
    expect(installation.acked).toEqual([0, 1]);
    const second = calls.find(
      ({ execution, context }) => execution.namespace === 'b' && context['id'] === runIdOf('inv_0'),
    );
    expect(second?.steps['a']).toBe('{"$return_value":"of a"}');
    expect(JSON.parse(second?.steps['trigger'] ?? '')).toMatchObject({ event: { n: 0 }, context: { hops: 0 } });
    expect(second?.context).toMatchObject({ workflow_id: 'p_1', JIT: false, run: { runs: 1, attempt: 1 } });
    expect(installation.run(0).parts[PARTS.exports('b')]).toBe('{"$return_value":"of b"}');
    await until(() => installation.journal.states.size === 1);
  });

  it('fails a run that would wait beyond the limit of waiting runs', async () => {
    const installation = new WorkflowInstallation();
    installation.mostWaiting = 1;
    const { runner } = await installation.process(() => suspended);
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'waiting');
    await runner.accept([installation.event(1)]);
    await until(() => installation.statusOf(1) === 'failed');
    expect(JSON.parse(installation.run(1).parts[PARTS.end] ?? '')).toMatchObject({ code: 'WaitingLimitExceeded' });
    expect(installation.statusOf(0)).toBe('waiting');
  });

  it('gives the history every version of a run, without a gap', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const { runner } = await installation.process(() => succeeded());
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'succeeded');
    expect(installation.changesOf(0).map(({ version }) => version)).toEqual([1, 2, 3]);
  });

  it('ends a run whose step fails, and tells it on $errors', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const { runner, calls } = await installation.process(() => failed());
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'failed');
    expect(stepsOf(calls)).toEqual(['a']);
    expect(installation.errors()).toMatchObject([
      { original_event: { n: 0 }, original_context: { source_type: 'HTTP' }, error: { code: 'E_X', cellId: 'c_a' } },
    ]);
  });

  it('71: says what is not to be kept: a run and its errors of a workflow that keeps none, or by x-pd-nostore', async () => {
    const marksOf = async (settings: { dataRetention: 'none' | null }, headers: { nostore?: '1' }) => {
      const installation = new WorkflowInstallation([step('a')], settings);
      const { runner } = await installation.process(() => failed());
      await runner.accept([installation.event(0, headers)]);
      await until(() => installation.statusOf(0) === 'failed');
      const errors = installation.journal.records.filter(({ headers: { channel } }) => channel === '$errors');
      return [installation.changesOf(0).at(-1)?.nostore, errors.map((error) => error.headers['nostore'])];
    };
    expect(await marksOf({ dataRetention: 'none' }, {})).toEqual([true, ['1']]);
    expect(await marksOf({ dataRetention: null }, { nostore: '1' })).toEqual([true, ['1']]);
    expect(await marksOf({ dataRetention: null }, {})).toEqual([undefined, [undefined]]);
  });

  it('emits what a step sends, also one that failed, and its messages to streams for no listener', async () => {
    const emit = { kind: 'emit', event: '{"a":1}' } as const;
    const sse = { kind: 'sse', channel: 'news', payload: '[1]' } as const;
    const sent = { sends: [{ kind: 'emit', bytes: 7 }] } as const;
    const both = { sends: [...sent.sends, { kind: 'sse', bytes: 7 }] } as const;
    const installation = new WorkflowInstallation([step('a', { onError: 'continue' }), step('b')]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    const throws = failed();
    calls[0]?.end(throws.kind === 'failed' ? { ...throws, result: { ...throws.result, ...sent } } : throws, [emit]);
    await until(() => calls.length === 2);
    calls[1]?.end(succeeded(both), [emit, sse]);
    await until(() => installation.statusOf(0) === 'succeeded');
    const emits = installation.journal.records.filter(({ topic }) => topic === 'emits.p_1');
    expect(emits.map(({ headers, value }) => [headers['channel'], headers['notrigger'], value])).toEqual([
      ['', undefined, '{"a":1}'],
      ['', undefined, '{"a":1}'],
      ['$sse', '1', '{"channel":"news","payload":[1]}'],
    ]);
    expect(new Set(emits.map(({ headers }) => headers['emit'])).size).toBe(3);
    expect(installation.journal.laneOf('p_1').lastEventId).toBe(emits[2]?.headers['id']);
  });

  it('answers a request to cancel or resume once that is durable, also when it comes again', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    let offset = 1;
    const answerTo = async (id: string, kind: 'cancel' | 'resume', run = runIdOf('inv_0')): Promise<unknown> => {
      const { replies } = installation;
      const before = replies.length;
      await runner.accept([installation.event(offset++, { id, kind, run, respond: 'here' }, '{"body":1}')]);
      await until(() => replies.length > before);
      const [to, reply] = replies.at(-1) ?? [];
      expect(to).toBe(id);
      return JSON.parse(reply?.body ?? '');
    };
    expect(await answerTo('inv_early', 'resume')).toEqual({ result: 'over', version: 1 });
    const paused = succeeded();
    calls[0]?.end(paused.kind === 'succeeded' ? { ...paused, flow: { kind: 'delay', ms: 60_000 } } : paused);
    await until(() => installation.statusOf(0) === 'waiting');
    expect(await answerTo('inv_resume', 'resume')).toEqual({ result: 'ends', version: 3 });
    await until(() => calls.length === 2);
    expect(await answerTo('inv_resume', 'resume')).toEqual({ result: 'ends', version: 3 });
    expect(await answerTo('inv_cancel', 'cancel')).toEqual({ result: 'cancels', version: 4 });
    expect(installation.statusOf(0)).toBe('cancelled');
    await until(() => installation.journal.states.size === 1);
    expect(await answerTo('inv_cancel', 'cancel')).toEqual({ result: 'unknown', version: 0 });
  });

  it('hands over the messages of a step with its outcome, under the ids of its record, also while it waits', async () => {
    const http = {
      kind: 'http',
      method: 'POST',
      url: 'https://a.example/',
      headers: {},
      body: '1',
      retry: false,
    } as const;
    const large = { ...http, body: '\u0000'.repeat(2_000_000) };
    const object = { kind: 's3', bucket: 'b', prefix: 'a', payload: '[1]' } as const;
    const sent = { sends: [http, large, object].map(({ kind }) => ({ kind, bytes: 1 })) };
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    const messages = () => installation.journal.records.filter(({ topic }) => topic === 'messages.p_1');
    expect(messages()).toEqual([]);
    calls[0]?.end({ ...succeeded(sent), flow: { kind: 'suspend', ms: 100 } } as never, [http, large, object]);
    await until(() => installation.statusOf(0) === 'waiting');
    // JSON makes the second six times as long, which no record can contain.
    expect(messages().map(({ headers }) => headers['index'])).toEqual(['0', '2']);
    const [{ headers, value } = { headers: {}, value: '' }] = messages();
    expect(headers).toMatchObject({ workflow: 'p_1', workspace: 'o_1', run: runIdOf('inv_0') });
    expect(headers).toMatchObject({ step: 'a', execution: '1', index: '0' });
    expect(headers).toHaveProperty('id', expect.stringMatching(/^snd_/));
    expect(JSON.parse(value)).toMatchObject({ method: 'POST', url: 'https://a.example/', body: '1' });
    const day = new Date(installation.now).toISOString().slice(0, 10).replaceAll('-', '/');
    const key = expect.stringMatching(new RegExp(`^a/${day}/[0-9a-f-]{36}[.]json$`));
    expect(JSON.parse(messages()[1]?.value ?? '')).toEqual({ kind: 's3', bucket: 'b', key, payload: '[1]' });
  });

  // docs/reference/workflows.md#flow-trigger
  it('starts the workflows that a step triggers, in the commit of its outcome, and none of a step that failed', async () => {
    const installation = new WorkflowInstallation([step('a', { onError: 'continue' }), step('b')]);
    const { workflow } = installation;
    if (workflow) installation.others.set('p_2', { ...workflow, id: 'p_2' });
    const { runner, calls } = await installation.process();
    const trace = runIdOf('inv_first');
    await runner.accept([installation.event(0, { hops: '3', trace })]);
    await until(() => calls.length === 1);
    const started = calls[0]?.onTrigger('p_2', 0);
    expect(calls[0]?.onTrigger('p_2', 0)).toEqual(started);
    calls[0]?.end(failed(), [], [{ workflowId: 'p_2', index: 0, event: '1' }]);
    await until(() => calls.length === 2);
    const answer = calls[1]?.onTrigger('ext:b/c', 0);
    const gone = { workflowId: 'p_3', index: 1, event: '3' };
    calls[1]?.end(succeeded(), [], [{ workflowId: 'p_2', index: 0, event: '{"a":2}' }, gone]);
    await until(() => installation.statusOf(0) === 'succeeded');
    const starts = installation.journal.records.filter(({ topic }) => topic.startsWith('invocations.'));
    expect(starts).toMatchObject([
      {
        topic: 'invocations.p_2',
        key: 'p_2',
        value: '{"a":2}',
        headers: { kind: 'manual', hops: '4', trace, trigger: '{"type":"workflow","id":"p_1","name":null}' },
      },
    ]);
    expect(answer).toEqual({ workflowId: 'p_2', runId: runIdOf(String(starts[0]?.headers['id'])) });
    expect(answer).not.toEqual(started);
  });

  it('tells a step why it starts no workflow', async () => {
    const installation = new WorkflowInstallation();
    const { workflow } = installation;
    if (workflow) {
      installation.others.set('p_2', { ...workflow, id: 'p_2', active: false });
      installation.others.set('p_3', { ...workflow, id: 'p_3', workspaceId: 'o_2' });
    }
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1, { hops: '32' })]);
    await until(() => calls.length === 2);
    const [first, last] = calls;
    expect(first?.onTrigger('p_2', 0)).toMatchObject({ error: { code: 'WorkflowInactive' } });
    expect(first?.onTrigger('p_3', 0)).toMatchObject({ error: { code: 'WorkflowNotFound' } });
    expect(first?.onTrigger('ext:none', 0)).toMatchObject({ error: { code: 'WorkflowNotFound' } });
    expect(last?.onTrigger('p_1', 0)).toMatchObject({ error: { code: 'HopLimitExceeded' } });
  });

  it('is started by another workflow, as part of the chain that began with its first run', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process(() => succeeded());
    const trigger = '{"type":"workflow","id":"p_9","name":null}';
    await runner.accept([installation.event(0, { kind: 'manual', hops: '2', trace: 'run_first', trigger })]);
    await until(() => installation.statusOf(0) === 'succeeded');
    const context = { trace_id: 'run_first', source_type: 'WORKFLOW', emitter_id: 'p_9', hops: 2 };
    expect(calls[0]?.context).toMatchObject(context);
  });

  it('is started by a call of a tool', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process(() => succeeded());
    const trigger = '{"type":"tool","id":null,"name":"sync"}';
    await runner.accept([installation.event(0, { kind: 'manual', trigger })]);
    await until(() => installation.statusOf(0) === 'succeeded');
    expect(calls[0]?.context).toMatchObject({ source_type: 'TOOL', emitter_id: null });
  });

  it('drops an event that arrives while it is inactive, and one that is for a deleted workflow', async () => {
    const installation = new WorkflowInstallation();
    const { runner } = await installation.process(() => succeeded());
    const { workflow } = installation;
    installation.workflow = workflow && { ...workflow, active: false };
    await runner.accept([installation.event(0)]);
    await until(() => installation.acked.length === 1);
    installation.workflow = undefined;
    await runner.accept([installation.event(1)]);
    await until(() => installation.acked.length === 2);
    expect(installation.journal.records).toEqual([]);
  });

  it('leaves events in its lane while too many runs wait for their turn', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process();
    for (let at = 0; at < 1_200; at += 100) {
      await runner.accept(Array.from({ length: 100 }, (_, i) => installation.event(at + i)));
      await until(() => installation.acked.length === Math.min(at + 100, 1_100));
    }
    // What is no event passes them.
    await runner.accept([installation.event(1_200, { kind: 'wake' })]);
    await until(() => installation.acked.includes(1_200));
    expect([calls.length, installation.acked.length]).toEqual([100, 1_101]);
    let ended = 0;
    const endAll = (): boolean => {
      for (; ended < calls.length; ended++) calls[ended]?.end(succeeded());
      return installation.acked.length === 1_201 && ended === 1_200;
    };
    await until(endAll);
    const events = installation.acked.filter((offset) => offset !== 1_200);
    expect(events).toEqual(Array.from({ length: 1_200 }, (_, i) => i));
    await until(() => installation.statusOf(1_199) === 'succeeded');
  });

  it('keeps a run that nothing may execute, and executes nothing', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process(() => succeeded());
    await runner.accept([installation.event(0, { notrigger: '1' })]);
    await until(() => installation.statusOf(0) === 'exited');
    expect(calls).toEqual([]);
  });

  it('finishes a run with the version with which it began', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')], { concurrency: 1 });
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => calls.length === 1);
    installation.deploy('d_2', [step('c')], { concurrency: 1 });
    calls[0]?.end(succeeded());
    await until(() => calls.length === 2);
    calls[1]?.end(succeeded());
    await until(() => calls.length === 3);
    expect(stepsOf(calls)).toEqual(['a', 'b', 'c']);
    calls[2]?.end(succeeded());
    await until(() => installation.statusOf(1) === 'succeeded');
    expect([0, 1].map((offset) => installation.run(offset).head.version?.version)).toEqual([1, 2]);
  });

  it('goes on after a wait when its alarm comes, and not by an earlier alarm', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const { runner, calls } = await installation.process(({ execution }) =>
      execution.namespace === 'a'
        ? ({ ...succeeded(), kind: 'succeeded', flow: { kind: 'delay', ms: 500 } } as never)
        : succeeded(),
    );
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'waiting');
    expect(await installation.alarms(1)).toEqual([]);
    expect(runner.retire()).toBe(true);
    installation.now += 500;
    const after = await installation.process(() => succeeded());
    await after.runner.accept(await installation.alarms(1));
    await until(() => installation.statusOf(0) === 'succeeded');
    expect([stepsOf(calls), stepsOf(after.calls)]).toEqual([['a'], ['b']]);
    await after.runner.accept(await installation.alarms(2));
    await until(() => installation.acked.length === 3);
    expect(installation.changesOf(0).map(({ version }) => version)).toEqual([1, 2, 3, 4]);
  });

  it('cancels a run while its step executes, and drops the outcome of that step', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    await runner.accept([installation.event(1, { kind: 'cancel', run: runIdOf('inv_0') })]);
    await until(() => installation.statusOf(0) === 'cancelled');
    calls[0]?.end(succeeded({ exports: { x: '1' } }));
    await runner.close();
    expect(installation.statusOf(0)).toBe('cancelled');
    expect(installation.run(0).parts[PARTS.exports('a')]).toBeUndefined();
    expect(stepsOf(calls)).toEqual(['a']);
  });
});

describe('a caller', () => {
  const asked = { respond: 'here' } as const;
  const reply = { status: 201, headers: {}, body: 'made', base64: false };

  it('gets what the run responds, once the run has ended', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0, asked)]);
    await until(() => calls.length === 1);
    expect(installation.replies).toEqual([]);
    calls[0]?.end(succeeded({ reply: { status: 201, text: JSON.stringify(reply), sentAt: null } }));
    await until(() => installation.replies.length === 1);
    expect(installation.replies).toEqual([['inv_0', reply]]);
    expect(installation.statusOf(0)).toBe('succeeded');
  });

  it('is told when a run ends, fails or waits without a response, and when the queue is full', async () => {
    const installation = new WorkflowInstallation([step('a')], { concurrency: 1, queueSize: 1 });
    const { runner, calls } = await installation.process();
    await runner.accept([0, 1, 2].map((offset) => installation.event(offset, asked)));
    await until(() => installation.replies.length === 1);
    calls[0]?.end(failed());
    await until(() => calls.length === 2);
    calls[1]?.end({ ...succeeded(), flow: { kind: 'delay', ms: 1 } } as never);
    await until(() => installation.replies.length === 3);
    expect(installation.replies.map(([id, { status, body }]) => [id, status, body])).toEqual([
      ['inv_2', 503, expect.stringContaining('queue_full')],
      ['inv_0', 400, 'No $.respond called in workflow'],
      ['inv_1', 400, '$.respond() not called for this invocation'],
    ]);
  });
});
