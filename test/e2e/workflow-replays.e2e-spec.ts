import { describe, expect, it } from '@jest/globals';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Step {
  readonly namespace: string;
  readonly state: string;
  readonly reused: boolean;
  readonly exports: { readonly $return_value?: unknown } | null;
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly version: number | null;
  readonly trigger: object;
  readonly trace_id: string;
  readonly replay_of: string | null;
  readonly replay_from: string | null;
  readonly replayed_by: { readonly user_id: string } | null;
  readonly event: { readonly body: unknown };
  readonly steps: readonly Step[];
}
interface Data<T> {
  readonly data: T;
}
interface Refusal {
  readonly code: string;
  readonly details: { readonly namespace?: string };
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

const { api } = useInstance();

const step = (namespace: string, body: string): object => ({
  namespace,
  code: `export default { async run({ steps, $ }) { ${body} } }`,
});
const KEY = 'return $.context.idempotency_key';

const ended = (id: string, state: string): Promise<Run> =>
  eventually(`run ${id} is ${state}`, async () => {
    const { body } = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${id}`);
    return body.data?.state === state ? body.data : undefined;
  });

/** A workflow of these steps, and a run of it that ended in this state. */
const ran = async (steps: readonly object[], state: string) => {
  const body = { name: 'w', triggers: [{ type: 'http' }], steps };
  const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
  const { headers } = await send(data.triggers[0]?.endpoint_url ?? '', { body: { n: 1 } });
  const run = await ended(String(headers['x-sluice-run-id']), state);
  const change = (changed: object) => api.expect(200, 'PUT', `/v1/workflows/${data.id}`, { body: changed });
  return { workflow: data.id, run, change };
};
const replay = async (id: string, body: object, headers: Record<string, string> = {}): Promise<Run> =>
  (await api.expect<Data<Run>>(202, 'POST', `/v1/runs/${id}/replay`, { body, headers })).data;
const refused = async (id: string, body: object) => {
  const reply = await api.call<Refusal>('POST', `/v1/runs/${id}/replay`, { body });
  return [reply.status, reply.body.code, reply.body.details.namespace];
};

// docs/reference/workflows.md#run-replay
describe('a replay', () => {
  const trigger = { triggers: [{ type: 'http' }] };
  const broken = [step('a', KEY), step('b', 'throw new Error("broken")')];

  it('67: from the failed step runs what was repaired as the same work, and from the start anew', async () => {
    const { run, change } = await ran(broken, 'failed');
    await change({ ...trigger, steps: [step('a', KEY), step('b', KEY)] });

    const accepted = await replay(run.id, { from: 'failed' });
    expect(accepted).toMatchObject({
      state: 'queued',
      replay_of: run.id,
      replay_from: 'failed',
      trace_id: run.id,
      trigger: run.trigger,
      event: { body: { n: 1 } },
      steps: [
        { namespace: 'a', state: 'succeeded', reused: true },
        { namespace: 'b', state: 'pending', reused: false },
      ],
    });
    expect(accepted.replayed_by?.user_id).toMatch(/^u_/);
    const goneOn = await ended(accepted.id, 'succeeded');
    expect(goneOn).toMatchObject({ version: 2, replay_of: run.id, event: { body: { n: 1 } } });
    expect(goneOn.steps).toMatchObject([
      { namespace: 'a', reused: true, exports: { $return_value: `${run.id}/a` } },
      { namespace: 'b', reused: false, exports: { $return_value: `${run.id}/b` } },
    ]);

    const { id } = await replay(run.id, { event: { body: 'other' } });
    const anew = await ended(id, 'succeeded');
    expect(anew).toMatchObject({ replay_from: 'start', event: { body: 'other' } });
    expect(anew.steps.map(({ reused, exports }) => [reused, exports?.$return_value])).toEqual([
      [false, `${id}/a`],
      [false, `${id}/b`],
    ]);

    const same = await replay(run.id, { from: 'b', version: 'same' });
    expect(await ended(same.id, 'failed')).toMatchObject({ version: 1, replay_from: 'b' });
    const list = await api.expect<Data<readonly Run[]>>(200, 'GET', `/v1/runs?replay_of=${run.id}`);
    expect(list.data.map((each) => each.id)).toEqual([same.id, id, accepted.id]);
  });

  it('68: is refused where it cannot begin', async () => {
    const { run, change } = await ran(broken, 'failed');
    const waits = await ran([step('a', '$.flow.suspend()')], 'waiting');
    const succeeded = await ran([step('a', KEY)], 'succeeded');
    expect(await refused(run.id, { from: 'zz' })).toEqual([409, 'step_not_reached', 'zz']);
    expect(await refused(waits.run.id, {})).toEqual([409, 'run_not_finished', undefined]);
    expect(await refused(succeeded.run.id, { from: 'failed' })).toEqual([409, 'nothing_failed', undefined]);
    expect(await refused(run.id, { from: 'failed', event: {} })).toEqual([400, 'invalid_parameter', undefined]);
    await change({ ...trigger, steps: [step('z', KEY), ...broken] });
    expect(await refused(run.id, { from: 'failed' })).toEqual([409, 'step_not_reached', 'z']);
    await change({ active: false });
    expect(await refused(run.id, {})).toEqual([409, 'workflow_inactive', undefined]);
  });

  it('runs once for one Idempotency-Key, with up to 6 MB of outcomes, after its run was removed', async () => {
    const large = 'return "ä\\"" .repeat(1_400_000)';
    const { run, change } = await ran([step('a', large), step('b', 'throw new Error("broken")')], 'failed');
    await change({
      ...trigger,
      steps: [step('a', large), step('b', 'return steps.a.$return_value.length')],
      settings: { throttle: { limit: 0, interval: 1, unit: 'hour' } },
    });
    const headers = { 'idempotency-key': `replay-${run.id}` };
    const { id } = await replay(run.id, { from: 'failed' }, headers);
    expect((await replay(run.id, { from: 'failed' }, headers)).id).toBe(id);
    await ended(id, 'queued');
    await api.expect(204, 'DELETE', `/v1/runs/${run.id}`);
    await change({ settings: { throttle: null } });
    const { steps } = await ended(id, 'succeeded');
    expect(steps[1]?.exports).toEqual({ $return_value: 2_800_000 });
    const list = await api.expect<Data<readonly Run[]>>(200, 'GET', `/v1/runs?replay_of=${run.id}`);
    expect(list.data).toHaveLength(1);
  });
});
