import { describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Run {
  readonly id: string;
  readonly state: string;
  readonly cancel_reason: string | null;
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

const instance = useInstance();
const { api } = instance;

const deploy = async (code: string, settings: object = {}): Promise<Workflow> => {
  const steps = [{ namespace: 'a', code: `export default { async run({ steps, $ }) { ${code} } }` }];
  const body = { name: 'w', settings, triggers: [{ type: 'http' }], steps };
  return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
};
const hit = async ({ triggers }: Workflow, body: object = {}): Promise<string> =>
  String((await send(triggers[0]?.endpoint_url ?? '', { body })).headers['x-sluice-run-id']);
const inState = (id: string, state: string): Promise<Run> =>
  eventually(`run ${id} is ${state}`, async () => {
    const { body } = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${id}`);
    return body.data?.state === state ? body.data : undefined;
  });

// docs/reference/workflows.md#bulk-cancel
describe('runs that are cancelled in bulk', () => {
  it('end, whatever they did, and others go on', async () => {
    const workflow = await deploy('$.flow.delay(3_600_000)');
    const busy = await deploy('await new Promise((resolve) => setTimeout(resolve, 60_000))', { concurrency: 1 });
    const waiting = await Promise.all([1, 2, 3].map((n) => hit(workflow, { n })));
    const [running, queued] = [await hit(busy), await hit(busy)];
    for (const id of waiting) await inState(id, 'waiting');
    await inState(running, 'running');
    const cancel = (id: string, body: object) =>
      api.expect<Data<{ matched: number }>>(202, 'POST', `/v1/workflows/${id}/runs/cancel`, { body });
    const [first = '', ...others] = waiting;
    expect((await cancel(workflow.id, { run_ids: [first, running] })).data).toEqual({ matched: 1 });
    expect(await inState(first, 'cancelled')).toMatchObject({ cancel_reason: 'api' });
    expect((await cancel(busy.id, { filter: { state: 'running,queued' } })).data).toEqual({ matched: 2 });
    for (const id of [running, queued]) await inState(id, 'cancelled');
    for (const id of others) expect(await inState(id, 'waiting')).toMatchObject({ cancel_reason: null });
    expect((await cancel(workflow.id, { filter: { since: '2020-01-01' } })).data).toEqual({ matched: 2 });
    for (const id of others) await inState(id, 'cancelled');
  }, 60_000);
});
