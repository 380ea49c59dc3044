import { describe, expect, it } from '@jest/globals';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { cancel, fail, start, succeed } from '#libs/workflow-runs/testing/run-samples.js';
import { LIVE, run, useWorld } from './testing/history-world.js';

const world = useWorld();

// docs/reference/workflows.md#run-list
describe('the list of runs', () => {
  it('has the runs of a workflow as records, newest first, in pages', async () => {
    const { call, happened } = await world();
    await happened(...changesOf(run(1), start(2), succeed(3, 1), succeed(4, 2)), ...changesOf(run(2)));
    const reply = await call('get', '/v1/workflows/p_1/runs?limit=1');
    const { page_info, data } = reply.body as {
      page_info: { end_cursor: string; total_count: number };
      data: object[];
    };
    expect(data).toEqual([
      expect.objectContaining({ id: 'run_2', workflow_name: 'Orders', state: 'queued', owner_id: 'o_1', error: null }),
    ]);
    expect(Object.keys(data[0] ?? {})).not.toContain('steps');
    expect(page_info.total_count).toBe(2);
    const next = await call('get', `/v1/workflows/p_1/runs?limit=1&after=${page_info.end_cursor}`);
    expect(itemsOf(next)).toEqual([
      expect.objectContaining({ id: 'run_1', state: 'succeeded', version: 1, deployment_id: 'd_1' }),
    ]);
  });

  it('71: has a run that is not to be kept until it has ended, also when its changes come twice', async () => {
    const { call, happened } = await world();
    const changes = changesOf(run(1), start(2), fail(3, 1, 'E_X')).map((each) => ({ ...each, nostore: true as const }));
    await happened(...changes.slice(0, 2));
    expect((await call('get', '/v1/runs/run_1')).status).toBe(200);
    await happened(...changes.slice(2), ...changes, ...changesOf(run(2)));
    // Its batch comes after the one that ended the run.
    await happened(...changesOf(run(3)));
    expect((await call('get', '/v1/runs/run_1')).status).toBe(404);
  });

  it('names the step of an error, and shortens a long one', async () => {
    const { call, happened } = await world();
    await happened(...changesOf(run(1), start(2), fail(3, 1, `E_${'x'.repeat(2_000)}`)));
    const [failed] = itemsOf(await call('get', '/v1/workflows/p_1/runs'));
    expect(failed).toMatchObject({ state: 'failed', error: { namespace: 'a', cellId: 'c_a' }, truncated: true });
  });

  it('of all workspaces leaves out those of others and of deleted workflows', async () => {
    const { happened, idsOf } = await world();
    await happened(
      ...changesOf(run(1)),
      ...changesOf(run(2, { workflowId: 'p_2' })),
      ...changesOf(run(3, { workflowId: 'p_other', ownerId: 'o_2' })),
      ...changesOf(run(4, { workflowId: 'p_gone' })),
    );
    expect(await idsOf('/v1/runs')).toEqual(['run_2', 'run_1']);
  });

  // docs/reference/workflows.md#run-filters
  it('filters by all of its parameters', async () => {
    const { happened, idsOf } = await world();
    await happened(
      ...changesOf(run(1), start(2), fail(3, 1, 'E_X')),
      ...changesOf(run(2, { trigger: { type: 'timer', id: 'ti_1', name: 'nightly' }, traceId: 'run_1' })),
      ...changesOf(run(3, { test: true, replayOf: 'run_1' })),
    );
    const found = (query: string) => idsOf(`/v1/workflows/p_1/runs?${query}`);
    expect(await found('')).toEqual(['run_2', 'run_1']);
    expect(await found('test=any')).toEqual(['run_3', 'run_2', 'run_1']);
    expect(await found('test=true&replay_of=run_1')).toEqual(['run_3']);
    expect(await found('state=failed,running')).toEqual(['run_1']);
    expect(await found('q=e%20X')).toEqual(['run_1']);
    expect(await found('q=NIGHT')).toEqual(['run_2']);
    expect(await found('trigger=timer')).toEqual(['run_2']);
    expect(await found('version=1')).toEqual(['run_1']);
    expect(await found('trace_id=run_1')).toEqual(['run_2', 'run_1']);
    expect(await found('since=1700000002')).toEqual(['run_2']);
    expect(await found('until=1700000001')).toEqual(['run_1']);
  });

  it('refuses what is no filter', async () => {
    const { call } = await world();
    for (const query of ['state=done', 'version=0', 'version=x', 'test=maybe', `q=${'x'.repeat(201)}`, 'since=soon']) {
      const refused = await call('get', `/v1/workflows/p_1/runs?${query}`);
      expect([query, refused.status, errorOf(refused).code]).toEqual([query, 400, 'invalid_parameter']);
    }
    const cursor = Buffer.from('run_1').toString('base64');
    expect((await call('get', `/v1/workflows/p_1/runs?after=${cursor}`)).status).toBe(400);
  });

  it('is not found for another workspace', async () => {
    const { call } = await world();
    for (const id of ['p_other', 'p_gone', 'dc_1', '%00']) {
      const refused = await call('get', `/v1/workflows/${id}/runs`);
      expect([id, refused.status, errorOf(refused).code]).toEqual([id, 404, 'workflow_not_found']);
    }
  });
});

// docs/reference/workflows.md#run-record
describe('a run', () => {
  const long = 'x'.repeat(5_000);

  it('has its event and all steps of its version, with long values shortened unless they are asked for', async () => {
    const { call, happened } = await world();
    await happened(...changesOf(run(1), start(2), succeed(3, 1, null, { exports: { $return_value: `"${long}"` } })));
    const short = (await call('get', '/v1/runs/run_1')).body as { data: { steps: object[] } };
    expect(short.data).toMatchObject({ id: 'run_1', state: 'running', event: { a: 1 } });
    expect(short.data).not.toHaveProperty('truncated');
    expect(short.data.steps).toEqual([
      expect.objectContaining({ namespace: 'a', id: 'c_a', state: 'succeeded', truncated: true }),
      expect.objectContaining({ namespace: 'b', id: 'c_b', state: 'running', exports: null }),
    ]);
    expect(JSON.stringify(short).length).toBeLessThan(4_000);
    const whole = (await call('get', '/v1/runs/run_1?expand=data')).body as typeof short;
    expect(whole.data.steps[0]).toMatchObject({ exports: { $return_value: long } });
    expect(whole.data.steps[0]).not.toHaveProperty('truncated');
    expect((await call('get', '/v1/runs/run_1?expand=all')).status).toBe(400);
  });

  // docs/reference/workflows.md#step-record
  it('has each step at its own address, whole', async () => {
    const { call, happened } = await world();
    await happened(...changesOf(run(1), start(2), succeed(3, 1, null, { exports: { $return_value: `"${long}"` } })));
    const step = (await call('get', '/v1/runs/run_1/steps/a')).body as { data: object };
    expect(step.data).toMatchObject({ namespace: 'a', exports: { $return_value: long } });
    const missing = await call('get', '/v1/runs/run_1/steps/zz');
    expect([missing.status, errorOf(missing).code]).toEqual([404, 'step_not_found']);
  });

  it('shows the steps that have an outcome when its version is not known', async () => {
    const { call, happened, workflows } = await world();
    workflows.set('p_1', { id: 'p_gone', ...LIVE, workspaceId: 'o_1', name: 'Orders', deploymentId: 'd_9' });
    const changes = changesOf(run(1), start(2), succeed(3, 1));
    const draft = changes.map((change) => ({
      ...change,
      head: { ...change.head, version: { deploymentId: null, version: null } },
    }));
    await happened(...draft);
    const { data } = (await call('get', '/v1/runs/run_1')).body as { data: { steps: object[] } };
    expect(data.steps).toEqual([expect.objectContaining({ namespace: 'a', state: 'succeeded' })]);
  });

  it('of another workspace or of a deleted workflow is not found', async () => {
    const { call, happened } = await world();
    await happened(
      ...changesOf(run(1, { workflowId: 'p_other', ownerId: 'o_2' })),
      ...changesOf(run(2, { workflowId: 'p_gone' })),
    );
    for (const id of ['run_1', 'run_2', 'run_3', 'dc_1', 'a%2Fb'])
      for (const reply of [await call('get', `/v1/runs/${id}`), await call('delete', `/v1/runs/${id}`)])
        expect([id, reply.status, errorOf(reply).code]).toEqual([id, 404, 'run_not_found']);
  });
});

// docs/reference/workflows.md#invoke
describe('an invocation', () => {
  it('is answered with the run as it arrived, with the steps that it will have', async () => {
    const { call, invoked } = await world();
    const reply = await call('post', '/v1/workflows/ext:orders/invoke?test=true');
    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({ data: { id: 'run_9', state: 'queued', steps: [{ namespace: 'a' }, {}] } });
    expect(invoked).toEqual([
      { workflowId: 'p_1', workspaceId: 'o_1', event: {}, test: true, draftId: null, waitMs: undefined },
    ]);
  });

  it('waits a second longer than the workflow may execute, or for the given time', async () => {
    const { call, happened, invoked } = await world();
    await happened(...changesOf(run(9), start(2), succeed(3, 1), succeed(4, 2)));
    const reply = await call('post', '/v1/workflows/p_1/invoke?wait=true');
    expect([reply.status, reply.body]).toEqual([200, { data: expect.objectContaining({ state: 'succeeded' }) }]);
    await call('post', '/v1/workflows/p_1/invoke?wait=true&wait_seconds=300');
    expect(invoked).toMatchObject([{ waitMs: 31_000 }, { waitMs: 300_000 }]);
    for (const seconds of ['0', '301', '1.5', 'x'])
      expect((await call('post', `/v1/workflows/p_1/invoke?wait_seconds=${seconds}`)).status).toBe(400);
  });

  it('is answered when the run waits for a retry, which sends no answer', async () => {
    const { call, happened, answers } = await world();
    answers.answered = new Promise(() => undefined);
    await happened(...changesOf(run(9), start(2), succeed(3, 1, { kind: 'delay', ms: 1_000 })));
    const reply = await call('post', '/v1/workflows/p_1/invoke?wait=true&wait_seconds=300');
    expect([reply.status, reply.body]).toEqual([200, { data: expect.objectContaining({ state: 'waiting' }) }]);
  });

  it('is the same for a repeat of its request, also when the first one ended before its answer', async () => {
    const { call, failures, invoked } = await world();
    failures.push(() => Promise.reject(new Error('the process died')));
    for (const status of [500, 202])
      expect((await call('post', '/v1/workflows/p_1/invoke').set('Idempotency-Key', 'k1')).status).toBe(status);
    await call('post', '/v1/workflows/p_1/invoke');
    expect(invoked.map(({ repeatId }) => repeatId)).toEqual([expect.any(String), invoked[0]?.repeatId, undefined]);
  });

  it('is refused for an inactive workflow and for one of another workspace', async () => {
    const { call, workflows, invoked } = await world();
    workflows.set('p_1', {
      id: 'p_1',
      workspaceId: 'o_1',
      name: 'Orders',
      deploymentId: 'd_1',
      ...LIVE,
      active: false,
    });
    expect(errorOf(await call('post', '/v1/workflows/p_1/invoke'))).toMatchObject({ code: 'workflow_inactive' });
    for (const w of ['p_other', 'p_none', 'ext:none'])
      expect(errorOf(await call('post', `/v1/workflows/${w}/invoke`))).toMatchObject({ code: 'workflow_not_found' });
    expect(invoked).toEqual([]);
  });
});

// docs/reference/workflows.md#run-delete
describe('the removal of a run', () => {
  it('is for a run that has ended', async () => {
    const { call, happened, idsOf } = await world();
    await happened(...changesOf(run(1), start(2), fail(3, 1, 'E_X')), ...changesOf(run(2)));
    const refused = await call('delete', '/v1/runs/run_2');
    expect([refused.status, errorOf(refused).code]).toEqual([409, 'run_not_finished']);
    expect((await call('delete', '/v1/runs/run_1')).status).toBe(204);
    expect((await call('get', '/v1/runs/run_1')).status).toBe(404);
    expect(await idsOf('/v1/runs')).toEqual(['run_2']);
  });
});

// docs/reference/workflows.md#run-cancel and #run-resume
describe('a request to cancel or resume a run', () => {
  it('is answered with the run once its record shows what the request did', async () => {
    const { asked, call, happened, runner } = await world();
    const changes = changesOf(run(1), start(2), cancel(3));
    await happened(...changes.slice(0, -1));
    runner.answers = async () => {
      // The record follows the answer.
      setTimeout(() => void happened(...changes), 50);
      return { result: 'cancels', version: changes.at(-1)?.version ?? 0 };
    };
    const reply = await call('post', '/v1/runs/run_1/cancel');
    expect([reply.status, reply.body]).toEqual([
      200,
      { data: expect.objectContaining({ id: 'run_1', state: 'cancelled', event: { a: 1 } }) },
    ]);
    expect(asked).toEqual([
      expect.objectContaining({ runId: 'run_1', workflowId: 'p_1', workspaceId: 'o_1', change: { kind: 'cancel' } }),
    ]);
    expect((await call('post', '/v1/runs/run_1/cancel')).status).toBe(200);
  });

  it('is refused when there is nothing to cancel or resume', async () => {
    const { call, happened, runner } = await world();
    const ended = changesOf(run(1), start(2), fail(3, 1, 'E_X'));
    await happened(...ended.slice(0, -1));
    // The runner has dropped the run, and the history does not yet show its end.
    runner.answers = async () => {
      setTimeout(() => void happened(...ended), 50);
      return { result: 'unknown', version: 0 };
    };
    const late = await call('post', '/v1/runs/run_1/cancel');
    expect([late.status, errorOf(late).code]).toEqual([409, 'run_finished']);
    const over = await call('post', '/v1/runs/run_1/resume').send({ data: 1 });
    expect([over.status, errorOf(over).code]).toEqual([409, 'run_not_waiting']);
  });

  it('does not find a run of another workspace', async () => {
    const { asked, call, happened } = await world();
    await happened(...changesOf(run(1, { workflowId: 'p_other', ownerId: 'o_2' })));
    for (const route of ['cancel', 'resume']) {
      const reply = await call('post', `/v1/runs/run_1/${route}`);
      expect([reply.status, errorOf(reply).code]).toEqual([404, 'run_not_found']);
    }
    expect(asked).toEqual([]);
  });
});

describe('what happened to runs', () => {
  it('reaches the history past a record that nobody can read', async () => {
    const { happened, publish, said, idsOf } = await world();
    await publish('{');
    await happened(...changesOf(run(1)));
    expect(await idsOf('/v1/runs')).toEqual(['run_1']);
    expect(said).toEqual(['run_history.unreadable']);
  });
});
