import { describe, expect, it } from '@jest/globals';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Run {
  readonly id: string;
  readonly state: string;
  readonly hops: number;
  readonly trace_id: string;
  readonly trigger: Readonly<Record<string, unknown>>;
  readonly event: unknown;
  readonly error: { readonly code: string } | null;
  readonly steps: readonly { readonly exports: Readonly<Record<string, unknown>> | null }[];
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

const { api } = useInstance();

const deployed = async (name: string, code: string, more: object = {}) => {
  const steps = [{ namespace: 'a', code: `export default { async run({ steps, event, $ }) { ${code} } }` }];
  const body = { name, external_id: name, triggers: [{ type: 'http' }], steps, ...more };
  const { data } = await api.expect<{ readonly data: Workflow }>(200, 'POST', '/v1/workflows', { body });
  return { id: data.id, url: data.triggers[0]?.endpoint_url ?? '' };
};
const ended = (id: string): Promise<Run> =>
  eventually(`the end of run ${id}`, async () => {
    const { body } = await api.call<{ readonly data?: Run }>('GET', `/v1/runs/${id}`);
    return body.data && ['succeeded', 'failed'].includes(body.data.state) ? body.data : undefined;
  });
const hit = async (url: string): Promise<Run> =>
  ended(String((await send(url, { body: { n: 1 } })).headers['x-sluice-run-id']));

// docs/reference/workflows.md#flow-trigger
describe('$.flow.trigger', () => {
  it('62: starts a run of another workflow, which belongs to the chain of the caller', async () => {
    const child = await deployed('child', 'return event');
    const caller = await deployed('caller', 'return $.flow.trigger("ext:child", { x: 1 })');
    const run = await hit(caller.url);
    const id = (run.steps[0]?.exports?.['$return_value'] as { readonly id: string }).id;
    expect(await ended(id)).toMatchObject({
      state: 'succeeded',
      hops: 1,
      trace_id: run.id,
      trigger: { type: 'workflow', id: caller.id, name: null },
      event: { x: 1 },
      steps: [{ exports: { $return_value: { x: 1 } } }],
    });
    await api.expect(200, 'PUT', `/v1/workflows/${child.id}`, { body: { active: false } });
    expect(await hit(caller.url)).toMatchObject({ state: 'failed', error: { code: 'WorkflowInactive' } });
    await api.expect(204, 'DELETE', `/v1/workflows/${child.id}`);
    expect(await hit(caller.url)).toMatchObject({ state: 'failed', error: { code: 'WorkflowNotFound' } });
  });

  it('62: stops a workflow that starts itself after 32 listeners', async () => {
    const { id, url } = await deployed('self', 'return $.flow.trigger($.context.workflow_id)');
    const first = await hit(url);
    const failed = await eventually('a failed run', async () => {
      const { body } = await api.call<{ readonly data: readonly Run[] }>(
        'GET',
        `/v1/workflows/${id}/runs?state=failed`,
      );
      return body.data[0];
    });
    expect(failed).toMatchObject({ hops: 32, trace_id: first.id, error: { code: 'HopLimitExceeded' } });
    const { body } = await api.call<{ readonly page_info: object }>('GET', `/v1/workflows/${id}/runs`);
    expect(body.page_info).toMatchObject({ total_count: 33 });
  });
});
