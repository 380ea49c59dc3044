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
  readonly test: boolean;
  readonly version: number | null;
  readonly deployment_id: string | null;
  readonly replay_of: string | null;
  readonly error: { readonly code: string; readonly namespace: string } | null;
  readonly steps: readonly {
    readonly namespace: string;
    readonly state: string;
    readonly reused: boolean;
    readonly exports: { readonly $return_value: unknown } | null;
    readonly logs: readonly { readonly k: string }[];
  }[];
}

const { api } = useInstance();

const returning = (namespace: string, text: string) => ({ namespace, code: `export default { run() { ${text} } }` });
const step = (namespace: string, value: string) => returning(namespace, `return ${JSON.stringify(value)}`);
const body = (steps: readonly object[], more: object = {}) => ({
  name: 'Tested',
  triggers: [{ type: 'http', response: 'custom' }],
  steps,
  ...more,
});
const saved = async (path: string, given: object): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, path === '' ? 'POST' : 'PUT', `/v1/workflows${path}`, { body: given })).data;
const drafted = (path: string, given: object): Promise<Workflow> => saved(path, { ...given, draft: true });
const post = (path: string, given: object) =>
  api.call<ErrorBody & { readonly data: Run }>('POST', path, { body: given });
const invoked = async ({ id }: Workflow, given: object = {}): Promise<Run> => {
  const path = `/v1/workflows/${id}/invoke`;
  return (await api.expect<Data<Run>>(200, 'POST', path, { body: { wait: true, ...given } })).data;
};
const tested = (workflow: Workflow, given: object = {}): Promise<Run> => invoked(workflow, { test: true, ...given });
const ended = (id: string): Promise<Run> =>
  eventually(`the end of ${id}`, async () => {
    const { data } = await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${id}`);
    return ['queued', 'running', 'waiting'].includes(data.state) ? undefined : data;
  });
const values = ({ steps }: Run) => steps.map(({ namespace, exports }) => [namespace, exports?.$return_value]);

// docs/reference/workflows.md#tests
describe('a test of a workflow with a draft', () => {
  it('16: runs the draft, and everything else the version in force', async () => {
    const workflow = await saved('', body([step('a', 'old')]));
    expect(await tested(workflow)).toMatchObject({ version: 1, test: true });
    await drafted(`/${workflow.id}`, body([step('a', 'new'), step('b', 'more')]));
    const test = await tested(workflow);
    expect(test).toMatchObject({ state: 'succeeded', test: true, version: null, deployment_id: null });
    expect(values(test)).toEqual([
      ['a', 'new'],
      ['b', 'more'],
    ]);
    expect(values(await invoked(workflow))).toEqual([['a', 'old']]);
    const { headers } = await send(workflow.triggers[0]?.endpoint_url ?? '', { body: {} });
    expect(values(await ended(String(headers['x-sluice-run-id'])))).toEqual([['a', 'old']]);

    await api.expect(200, 'POST', `/v1/workflows/${workflow.id}/deploy`);
    expect(await tested(workflow)).toMatchObject({ version: 2, steps: [{ namespace: 'a' }, { namespace: 'b' }] });
    expect((await ended(test.id)).steps.map(({ namespace }) => namespace)).toEqual(['a', 'b']);
  });

  it('runs a draft that was never deployed, with its own time limit and props', async () => {
    const slow = returning('a', 'return new Promise((resolve) => setTimeout(resolve, 5_000))');
    const workflow = await drafted('', body([slow], { settings: { timeout_seconds: 1 } }));
    expect(await post(`/v1/workflows/${workflow.id}/invoke`, { test: false })).toMatchObject({
      status: 409,
      body: { code: 'not_deployed' },
    });
    expect(await tested(workflow)).toMatchObject({ state: 'failed', error: { code: 'Timeout' } });
    const waiting = returning('a', "$.flow.delay(60_000); return 'on'").code.replace('run()', 'run({ $ })');
    await drafted(`/${workflow.id}`, body([{ namespace: 'a', code: waiting }, step('b', 'x')]));
    const test = await tested(workflow);
    expect(test).toMatchObject({ state: 'succeeded' });
    expect(test.steps[0]?.logs.map(({ k }) => k)).toContain('flow.delay');
    await api.expect(204, 'DELETE', `/v1/workflows/${workflow.id}/draft`);
    expect(await post(`/v1/workflows/${workflow.id}/invoke`, { test: true })).toMatchObject({
      status: 409,
      body: { code: 'not_deployed' },
    });
    const { data } = await api.expect<Data<Run[]>>(200, 'GET', `/v1/workflows/${workflow.id}/runs`, {
      query: { test: 'true' },
    });
    expect(data.map(({ version, state }) => [version, state])).toEqual([
      [null, 'succeeded'],
      [null, 'failed'],
    ]);
  });

  it('fails when its draft is discarded meanwhile', async () => {
    const workflow = await saved('', body([step('a', 'old')]));
    const slow = returning('slow', 'return new Promise((resolve) => setTimeout(resolve, 1_500))');
    await drafted(`/${workflow.id}`, body([slow, step('b', 'x')]));
    const { body: begun } = await post(`/v1/workflows/${workflow.id}/invoke`, { test: true });
    await eventually('the step executes', async () => {
      const { data } = await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${begun.data.id}`);
      return data.state === 'running' ? true : undefined;
    });
    await api.expect(204, 'DELETE', `/v1/workflows/${workflow.id}/draft`);
    expect(await ended(begun.data.id)).toMatchObject({
      state: 'failed',
      error: { code: 'DraftDiscarded', namespace: 'slow' },
    });
    expect(values(await invoked(workflow))).toEqual([['a', 'old']]);
  });
});

// docs/reference/workflows.md#run-replay
describe('a replay with a draft', () => {
  it('runs the draft as a test, from a step on, and the same draft again', async () => {
    const failing = returning('b', "throw new Error('not yet')");
    const workflow = await saved('', body([step('a', 'kept'), failing]));
    const run = await invoked(workflow);
    const replay = (of: string, given: object) => post(`/v1/runs/${of}/replay`, given);
    expect(await replay(run.id, { version: 'draft' })).toMatchObject({ status: 404, body: { code: 'no_draft' } });
    await drafted(`/${workflow.id}`, body([step('a', 'other'), step('b', 'mended')]));
    const { status, body: begun } = await replay(run.id, { from: 'failed', version: 'draft' });
    expect([status, begun.data.test]).toEqual([202, true]);
    const mended = await ended(begun.data.id);
    expect(mended).toMatchObject({ state: 'succeeded', version: null, replay_of: run.id, test: true });
    expect(values(mended)).toEqual([
      ['a', 'kept'],
      ['b', 'mended'],
    ]);
    const { body: same } = await replay(mended.id, { version: 'same' });
    expect(values(await ended(same.data.id))).toEqual([
      ['a', 'other'],
      ['b', 'mended'],
    ]);
    await drafted(`/${workflow.id}`, body([step('a', 'third')]));
    expect(await replay(mended.id, { version: 'same' })).toMatchObject({ status: 404, body: { code: 'no_draft' } });
    const { body: current } = await replay(mended.id, {});
    expect(await ended(current.data.id)).toMatchObject({ version: 1, test: true, state: 'failed' });
  });
});
