import { describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

const instance = useInstance();
const { api } = instance;

/** A workflow that logs, emits, waits, and fails with what it was sent. */
const failing = async (settings: object = {}): Promise<Workflow> => {
  const run = (body: string): string => `export default { run({ steps, $ }) { ${body} } }`;
  const seen =
    'const text = JSON.stringify(steps.trigger.event); console.log(text); $.send.emit({ raw_event: { text } });';
  const steps = [
    { namespace: 'a', code: run(`${seen} $.flow.delay(1_000); return text`) },
    { namespace: 'b', code: run(`${seen} throw new Error(text)`) },
  ];
  const body = { name: 'w', settings, triggers: [{ type: 'http' }], steps };
  return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
};
const hit = async ({ triggers }: Workflow, secret: string, headers = {}): Promise<string> =>
  String((await send(triggers[0]?.endpoint_url ?? '', { body: { secret }, headers })).headers['x-sluice-run-id']);
const status = async (path: string): Promise<number> => (await api.call('GET', path)).status;
const gone = (run: string): Promise<true> =>
  eventually(`${run} is gone`, async () => ((await status(`/v1/runs/${run}`)) === 404 ? true : undefined), 30_000);
const waits = (run: string): Promise<true> =>
  eventually(`${run} waits`, async () => {
    const { body } = await api.call<Partial<Data<{ state: string }>>>('GET', `/v1/runs/${run}`);
    return body.data?.state === 'waiting' ? true : undefined;
  });
const delivered = (webhook: string, count: number): Promise<string> =>
  eventually(
    `${count} deliveries`,
    () => {
      const bodies = instance.arrived(webhook);
      return bodies.length >= count ? JSON.stringify(bodies) : undefined;
    },
    30_000,
  );
const lists = async ({ id }: Workflow): Promise<string> => {
  const paths = [
    'runs?expand=data',
    'runs?q=sauerkraut',
    'event_summaries?expand=event',
    '$errors/event_summaries?expand=event',
  ];
  const replies = paths.map((path) => api.expect<Data<readonly object[]>>(200, 'GET', `/v1/workflows/${id}/${path}`));
  return JSON.stringify((await Promise.all(replies)).map(({ data }) => data));
};

// docs/reference/workflows.md#retention
describe('a run that is not kept', () => {
  it.each([
    ['data_retention: none', { data_retention: 'none' }, {}],
    ['x-pd-nostore', {}, { 'x-pd-nostore': '1' }],
  ])(
    '71: can be read until it ends, then is nowhere, and listeners got its emits and its error: %s',
    async (_what, settings, headers) => {
      const workflow = await failing(settings);
      const [emits, errors] = [await instance.listen(workflow.id), await instance.listen(workflow.id, '$errors')];
      const run = await hit(workflow, 'sauerkraut', headers);
      await waits(run);
      await gone(run);
      expect(await delivered(errors, 1)).toContain('sauerkraut');
      expect(await delivered(emits, 2)).toContain('sauerkraut');
      for (const path of ['steps/a', 'sse']) expect(await status(`/v1/runs/${run}/${path}`)).toBe(404);
      expect((await api.call('POST', `/v1/runs/${run}/replay`, { body: {} })).status).toBe(404);
      expect(await lists(workflow)).toBe('[[],[],[],[]]');
      await instance.server.restart();
      expect(await status(`/v1/runs/${run}`)).toBe(404);
      expect(await lists(workflow)).toBe('[[],[],[],[]]');
    },
    90_000,
  );

  it('71: is answered whole to an invocation that waits for it', async () => {
    const { id } = await failing({ data_retention: 'none' });
    const body = { wait: true, test: true, event: { secret: 'sauerkraut' } };
    const { data } = await api.expect<Data<{ id: string }>>(200, 'POST', `/v1/workflows/${id}/invoke`, { body });
    expect(data).toMatchObject({ state: 'failed', event: { secret: 'sauerkraut' }, error: { namespace: 'b' } });
    await gone(data.id);
  }, 60_000);

  it('71: (control) is in every list when nothing says so', async () => {
    const workflow = await failing();
    const run = await hit(workflow, 'sauerkraut');
    const kept = await eventually(
      'all lists',
      async () => {
        const all = JSON.parse(await lists(workflow)) as readonly (readonly object[])[];
        return all.every((list) => list.length > 0) && all[3]?.length === 1 ? all : undefined;
      },
      30_000,
    );
    expect(kept[1]).toMatchObject([{ id: run }]);
  }, 60_000);
});
