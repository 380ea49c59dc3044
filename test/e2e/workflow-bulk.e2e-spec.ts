import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
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

interface Progress {
  readonly state: string;
  readonly started: number;
  readonly waiting: number;
}
interface Listed {
  readonly replay_of: string | null;
  readonly replayed_by: { readonly user_id: string } | null;
  readonly state: string;
}

// docs/reference/workflows.md#bulk-replay
describe('runs that are replayed in bulk', () => {
  it('69: are those of the filter, once each, also over a kill', async () => {
    const workflow = await deploy('if (steps.trigger.event.body.bad) throw new Error("bad"); return 1');
    const good = await hit(workflow, {});
    const bad = await Promise.all(Array.from({ length: 20 }, (_, n) => hit(workflow, { bad: true, n })));
    for (const id of bad) await inState(id, 'failed');
    await inState(good, 'succeeded');
    const path = `/v1/workflows/${workflow.id}/runs/replay`;
    const empty = await api.call<ErrorBody>('POST', path, { body: { filter: {} } });
    expect([empty.status, empty.body.code]).toEqual([400, 'invalid_parameter']);
    const { data: begun } = await api.expect<Data<{ id: string; matched: number }>>(202, 'POST', path, {
      body: { filter: { state: 'failed' }, rate: 5 },
    });
    expect(begun).toEqual({ id: expect.stringMatching(/^rpl_/), matched: 20, rate: 5 });
    const progress = async (): Promise<Progress> =>
      (await api.expect<Data<Progress>>(200, 'GET', `${path}/${begun.id}`)).data;
    const replays = async (): Promise<readonly Listed[]> =>
      (
        await api.expect<Data<readonly Listed[]>>(200, 'GET', `/v1/workflows/${workflow.id}/runs`, {
          query: { limit: '100' },
        })
      ).data.filter(({ replay_of: of }) => of !== null);
    await eventually('a few replays', async () => ((await progress()).started >= 3 ? true : undefined));
    await instance.server.kill9();
    await instance.server.start();
    await eventually('its end', async () => ((await progress()).state === 'finished' ? true : undefined), 30_000);
    expect(await progress()).toMatchObject({ started: 20, waiting: 0 });
    const all = await eventually('20 replays', async () => {
      const found = await replays();
      return found.length >= 20 && found.every(({ state }) => state === 'failed') ? found : undefined;
    });
    expect(all.map(({ replay_of: of }) => of).sort()).toEqual([...bad].sort());
    expect(all[0]?.replayed_by?.user_id).toMatch(/^u_/);
  }, 90_000);

  it('are no more after a cancellation', async () => {
    const workflow = await deploy('return 1');
    const runs = await Promise.all(Array.from({ length: 30 }, (_, n) => hit(workflow, { n })));
    for (const id of runs) await inState(id, 'succeeded');
    const path = `/v1/workflows/${workflow.id}/runs/replay`;
    const { data } = await api.expect<Data<{ id: string }>>(202, 'POST', path, { body: { run_ids: runs, rate: 2 } });
    expect((await api.call('DELETE', `${path}/${data.id}`)).status).toBe(204);
    const ended = (await api.expect<Data<Progress>>(200, 'GET', `${path}/${data.id}`)).data;
    expect(ended).toMatchObject({ state: 'cancelled', waiting: 0 });
    expect(ended.started).toBeLessThan(10);
  }, 60_000);
});
