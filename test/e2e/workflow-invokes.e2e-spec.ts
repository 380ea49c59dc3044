import { describe, expect, it } from '@jest/globals';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Run {
  readonly id: string;
  readonly state: string;
  readonly event: unknown;
  readonly trigger: object;
  readonly test: boolean;
  readonly response: { readonly status: number; readonly headers: object; readonly body: string } | null;
  readonly steps: readonly {
    readonly state: string;
    readonly exports: { readonly $return_value?: unknown } | null;
    readonly logs: readonly { readonly k: string }[];
  }[];
}

const { api } = useInstance();

const deployed = async (body: string, more: object = {}): Promise<string> => {
  const steps = [{ namespace: 'a', code: `export default { async run({ steps, $ }) { ${body} } }` }];
  const { data } = await api.expect<{ readonly data: { readonly id: string } }>(200, 'POST', '/v1/workflows', {
    body: { name: 'w', triggers: [{ type: 'manual' }], steps, ...more },
  });
  return data.id;
};
const invoke = async (w: string, body: object, status = 200, headers: Record<string, string> = {}): Promise<Run> => {
  const path = `/v1/workflows/${w}/invoke`;
  return (await api.expect<{ readonly data: Run }>(status, 'POST', path, { body, headers })).data;
};
const runsOf = async (w: string, query = ''): Promise<readonly Run[]> =>
  (await api.expect<{ readonly data: readonly Run[] }>(200, 'GET', `/v1/workflows/${w}/runs${query}`)).data;

// docs/reference/workflows.md#invoke
describe('an invoked workflow', () => {
  it('65: answers with its queued run, which then is the run of its history', async () => {
    const id = await deployed('return steps.trigger.event.n');
    const run = await invoke(id, { event: { n: 1 } }, 202);
    expect(run).toMatchObject({
      state: 'queued',
      trigger: { type: 'manual', id: null, name: null },
      event: { n: 1 },
      steps: [{ namespace: 'a', state: 'pending' }],
    });
    const ended = await eventually('the run has ended', async () => {
      const reply = await api.call<{ readonly data?: Run }>('GET', `/v1/runs/${run.id}`);
      return reply.body.data?.state === 'succeeded' ? reply.body.data : undefined;
    });
    expect(ended.steps[0]?.exports).toEqual({ $return_value: 1 });
    const changed = ['state', 'deployment_id', 'version', 'started_at_ms', 'ended_at_ms', 'duration_ms', 'steps'];
    const kept = (each: Run) => Object.entries(each).filter(([name]) => !changed.includes(name));
    expect(kept(ended)).toEqual(kept(run));
  });

  it('65: answers a caller that waits once the run has ended or waits, with what it responded', async () => {
    const id = await deployed(
      `await $.respond({ status: 201, headers: { 'x-a': 'b' }, body: 'yes' }); if (steps.trigger.event.wait) $.flow.suspend(); return 2`,
      { external_id: 'waited' },
    );
    const ended = await invoke('ext:waited', { wait: true });
    expect(ended).toMatchObject({ state: 'succeeded', event: {}, response: { status: 201, body: 'yes' } });
    expect(ended.response?.headers).toMatchObject({ 'x-a': 'b' });
    expect(ended.steps[0]?.exports).toEqual({ $return_value: 2 });
    expect(await invoke(id, { wait: true, event: { wait: true } })).toMatchObject({ state: 'waiting' });
    expect((await runsOf('ext:waited')).length).toBe(2);
  });

  it('65: answers 202 when the run goes on after wait_seconds', async () => {
    const id = await deployed('await new Promise((resolve) => setTimeout(resolve, 5_000))');
    expect(await invoke(id, { wait: true, wait_seconds: 1 }, 202)).toMatchObject({ state: 'running' });
  });

  it('65: runs once for two requests with one Idempotency-Key', async () => {
    const id = await deployed('return 1');
    const headers = { 'idempotency-key': 'invoke-once' };
    const first = await invoke(id, { wait: true }, 200, headers);
    expect((await invoke(id, { wait: true }, 200, headers)).id).toBe(first.id);
    expect(await runsOf(id)).toHaveLength(1);
  });

  it('63, 65: runs only tests while it is inactive, without a pause', async () => {
    const id = await deployed('$.flow.delay(60_000); return $.context.JIT', { active: false });
    const refused = await api.call<{ readonly code: string }>('POST', `/v1/workflows/${id}/invoke`, { body: {} });
    expect([refused.status, refused.body.code]).toEqual([409, 'workflow_inactive']);
    const test = await invoke(id, { wait: true, test: true });
    expect(test).toMatchObject({ state: 'succeeded', test: true, steps: [{ exports: { $return_value: true } }] });
    expect(test.steps[0]?.logs.map(({ k }) => k)).toContain('flow.delay');
    expect(await runsOf(id)).toEqual([]);
    expect(await runsOf(id, '?test=true')).toMatchObject([{ id: test.id }]);
  });

  it('63: emits nothing on $errors when a test fails', async () => {
    const id = await deployed(`$.send.emit({ raw_event: { n: 1 } }); throw new Error('broken')`);
    const test = await invoke(id, { wait: true, test: true });
    expect(test).toMatchObject({ state: 'failed' });
    const list = (channel: string) =>
      api.expect<{ readonly data: readonly object[] }>(200, 'GET', `/v1/workflows/${id}/${channel}event_summaries`);
    const [emit] = await eventually('the emit of the test is listed', async () => {
      const { data } = await list('');
      return data.length === 1 ? data : undefined;
    });
    expect(emit).toMatchObject({ metadata: { test: true } });
    expect((await list('$errors/')).data).toEqual([]);
  });
});
