import { describe, expect, it } from '@jest/globals';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Run {
  readonly id: string;
  readonly workflow_id: string;
  readonly state: string;
  readonly cancel_reason: string | null;
  readonly cancelled_by: { readonly user_id: string } | null;
  readonly resumed_by: { readonly user_id: string } | null;
  readonly steps: readonly { readonly namespace: string; readonly exports: unknown }[];
}
interface Data<T> {
  readonly data: T;
}
interface Refusal {
  readonly code: string;
}

const { api } = useInstance();

const runOf = (id: string, state: string): Promise<Run> =>
  eventually(`run ${id} is ${state}`, async () => {
    const { body } = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${id}`);
    return body.data?.state === state ? body.data : undefined;
  });

/** A run in this state, with `first` as the code of its first step. */
const runIn = async (state: string, first: string): Promise<string> => {
  const steps = [
    { namespace: 'a', code: `export default { async run({ $ }) { ${first} } }` },
    { namespace: 'b', code: 'export default { run({ steps }) { return steps.a.$resume_data?.body ?? null } }' },
  ];
  const body = { name: 'w', triggers: [{ type: 'http' }], steps };
  const { data } = await api.expect<Data<{ readonly triggers: readonly { readonly endpoint_url: string }[] }>>(
    200,
    'POST',
    '/v1/workflows',
    { body },
  );
  const { headers } = await send(data.triggers[0]?.endpoint_url ?? '', { body: {} });
  const id = String(headers['x-sluice-run-id']);
  await runOf(id, state);
  return id;
};

// docs/reference/workflows.md#run-cancel and #run-resume
describe('a waiting run', () => {
  it('43: goes on at once when it is resumed, with the data, and cannot be resumed after its end', async () => {
    const id = await runIn('waiting', '$.flow.delay(3600000)');
    const { data } = await api.expect<Data<Run>>(200, 'POST', `/v1/runs/${id}/resume`, { body: { data: { ok: 1 } } });
    expect(data.state).not.toBe('waiting');
    expect(data.resumed_by?.user_id).toMatch(/^u_/);
    const { steps } = await runOf(id, 'succeeded');
    expect(steps.find(({ namespace }) => namespace === 'b')?.exports).toEqual({ $return_value: { ok: 1 } });
    const again = await api.call<Refusal>('POST', `/v1/runs/${id}/resume`);
    expect([again.status, again.body.code]).toEqual([409, 'run_not_waiting']);
    const late = await api.call<Refusal>('POST', `/v1/runs/${id}/cancel`);
    expect([late.status, late.body.code]).toEqual([409, 'run_finished']);
  });

  it('ends when it is cancelled, also the second time', async () => {
    const id = await runIn('waiting', '$.flow.suspend()');
    const { data } = await api.expect<Data<Run>>(200, 'POST', `/v1/runs/${id}/cancel`);
    expect(data).toMatchObject({ state: 'cancelled', cancel_reason: 'api' });
    expect(data.cancelled_by?.user_id).toMatch(/^u_/);
    await api.expect(200, 'POST', `/v1/runs/${id}/cancel`);
    const over = await api.call<Refusal>('POST', `/v1/runs/${id}/resume`);
    expect([over.status, over.body.code]).toEqual([409, 'run_not_waiting']);
  });
});

// docs/reference/workflows.md#cancel-runs
describe('the runs of a workflow', () => {
  it('52: are cancelled when it is deactivated so', async () => {
    const id = await runIn('waiting', '$.flow.suspend()');
    const { workflow_id: workflow } = await runOf(id, 'waiting');
    const path = `/v1/workflows/${workflow}`;
    const refused = await api.call<Refusal>('PUT', path, { body: { active: true, cancel_runs: true } });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_parameter']);
    for (const [active, status] of [
      [true, 400],
      [false, 200],
    ] as const) {
      const body = { steps: [], active, cancel_runs: true };
      expect((await api.call('PUT', '/v1/workflows/ext:new', { body })).status).toBe(status);
    }
    await api.expect(200, 'PUT', path, { body: { active: false, cancel_runs: true } });
    const run = await runOf(id, 'cancelled');
    expect(run.cancel_reason).toBe('deactivated');
    expect(run.cancelled_by?.user_id).toMatch(/^u_/);
  });
});

// docs/reference/workflows.md#run-cancel
describe('a running run', () => {
  it('44: is cancelled without the outcome of its step', async () => {
    const id = await runIn('running', '$.export("x", 1); await new Promise((end) => setTimeout(end, 3000))');
    const { data } = await api.expect<Data<Run>>(200, 'POST', `/v1/runs/${id}/cancel`);
    expect(data.state).toBe('cancelled');
    const left = [
      { namespace: 'a', state: 'cancelled', exports: {} },
      { namespace: 'b', state: 'pending', exports: null },
    ];
    expect(data.steps).toMatchObject(left);
    // The step has no outcome once its code would have ended either.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const again = await api.expect<Data<Run>>(200, 'POST', `/v1/runs/${id}/cancel`);
    expect(again.data).toMatchObject({ state: 'cancelled', steps: left });
  });
});
