import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly created_at_ms: number;
  readonly started_at_ms: number;
  readonly ended_at_ms: number;
  readonly waiting: { readonly kind: string; readonly since_ms: number; readonly resume_at_ms: number } | null;
  readonly steps: readonly { readonly attempts: number }[];
}

const { api } = useInstance();

const code = (body: string): string => `export default { async run({ steps, $ }) { ${body} } }`;
const deployed = async (body: string, settings: object): Promise<Workflow> => {
  const steps = [{ namespace: 'a', code: code(body) }];
  const definition = { name: 'w', settings, triggers: [{ type: 'http' }], steps };
  return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body: definition })).data;
};
const hit = async ({ triggers }: Workflow, body: object = {}): Promise<string> =>
  String((await send(triggers[0]?.endpoint_url ?? '', { body })).headers['x-sluice-run-id']);
const hits = async (workflow: Workflow, count: number): Promise<readonly string[]> => {
  const runs: string[] = [];
  for (let n = 0; n < count; n++) runs.push(await hit(workflow, { n }));
  return runs;
};
const inState = (id: string, state: string): Promise<Run> =>
  eventually(
    `${id} is ${state}`,
    async () => {
      const { body } = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${id}`);
      return body.data?.state === state ? body.data : undefined;
    },
    30_000,
  );
const states = (runs: readonly string[]): Promise<readonly string[]> =>
  Promise.all(runs.map(async (id) => (await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${id}`)).data.state));
const settingsOf = (workflow: Workflow, settings: object): Promise<unknown> =>
  api.expect(200, 'PUT', `/v1/workflows/${workflow.id}`, { body: { settings } });

// docs/reference/workflows.md#run-order
describe('the queue of a workflow', () => {
  it('48: starts the runs in the order of their events, one after the other', async () => {
    const workflow = await deployed('await new Promise((resolve) => setTimeout(resolve, 50))', { concurrency: 1 });
    const runs: Run[] = [];
    for (const id of await hits(workflow, 10)) runs.push(await inState(id, 'succeeded'));
    const overlaps = runs.filter((run, n) => n > 0 && run.started_at_ms < (runs[n - 1]?.ended_at_ms ?? 0));
    expect(overlaps).toEqual([]);
  }, 60_000);

  it('49: goes on while a run waits, and with hold_slot once it has ended', async () => {
    const body = 'if (steps.trigger.event.body.n === 0) $.flow.suspend()';
    const [free, held] = await Promise.all([
      deployed(body, { concurrency: 1 }),
      deployed(body, { concurrency: 1, hold_slot: true }),
    ]);
    const [[waits = '', goes = ''], [holds = '', queued = '']] = [await hits(free, 2), await hits(held, 2)];
    await inState(goes, 'succeeded');
    await inState(holds, 'waiting');
    expect(await states([waits, queued])).toEqual(['waiting', 'queued']);
    await api.expect(200, 'POST', `/v1/runs/${holds}/resume`, { body: {} });
    await inState(queued, 'succeeded');
  }, 60_000);

  it('50: starts as many in a time as throttle says, and acts on a change at once', async () => {
    const workflow = await deployed('', { throttle: { limit: 2, interval: 60, unit: 'second' } });
    const none = await deployed('', { throttle: { limit: 0, interval: 1, unit: 'second' } });
    const [[first = '', second = '', third = ''], [never = '']] = [await hits(workflow, 3), await hits(none, 1)];
    await inState(first, 'succeeded');
    await inState(second, 'succeeded');
    await inState(third, 'queued');
    await inState(never, 'queued');
    await settingsOf(workflow, { throttle: null });
    await settingsOf(none, { throttle: null });
    await inState(third, 'succeeded');
    await inState(never, 'succeeded');
  }, 60_000);
});

// docs/reference/workflows.md#attempt
describe('a run with auto_retry', () => {
  it('35: waits for its next attempt without an error, and resume tries it now', async () => {
    const workflow = await deployed('throw new Error("no")', { auto_retry: true });
    const id = await hit(workflow);
    const { waiting } = await inState(id, 'waiting');
    expect(waiting?.kind).toBe('retry');
    expect((waiting?.resume_at_ms ?? 0) - (waiting?.since_ms ?? 0)).toBe(141_000);
    const errors = await api.expect<Data<object[]>>(200, 'GET', `/v1/workflows/${workflow.id}/$errors/event_summaries`);
    expect(errors.data).toEqual([]);
    await api.expect(200, 'POST', `/v1/runs/${id}/resume`, { body: {} });
    await eventually('the second attempt', async () => {
      const { data } = await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${id}`);
      return data.state === 'waiting' && data.steps[0]?.attempts === 2 ? true : undefined;
    });
  }, 60_000);
});

// docs/reference/workflows.md#run-filters #run-list
describe('the list of runs', () => {
  it('66: has those that pass its filters, newest first, in pages', async () => {
    const workflow = await deployed('if (steps.trigger.event.body.n === 1) throw new Error("no marmalade")', {});
    const [first = '', failed = '', last = ''] = await hits(workflow, 3);
    for (const id of [first, last]) await inState(id, 'succeeded');
    const { created_at_ms: since } = await inState(failed, 'failed');
    const list = async (query: string): Promise<readonly string[]> => {
      const { data } = await api.expect<Data<Run[]>>(200, 'GET', `/v1/workflows/${workflow.id}/runs?${query}`);
      return data.map(({ id }) => id);
    };
    expect(await list('')).toEqual([last, failed, first]);
    expect(await list('state=failed')).toEqual([failed]);
    expect(await list('q=marma')).toEqual([failed]);
    expect(await list(`since=${new Date(since + 60_000).toISOString()}`)).toEqual([]);
    expect(await list(`until=${new Date(since + 60_000).toISOString()}`)).toHaveLength(3);
    const path = `/v1/workflows/${workflow.id}/runs?limit=1`;
    const page = await api.expect<{ page_info: { end_cursor: string } }>(200, 'GET', path);
    expect(await list(`limit=1&after=${page.page_info.end_cursor}`)).toEqual([failed]);
    const refused = await api.call<ErrorBody>('GET', `/v1/workflows/${workflow.id}/runs?state=broken`);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_parameter']);
  });
});
