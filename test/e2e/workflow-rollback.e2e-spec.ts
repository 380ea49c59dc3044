import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { type HttpAnswer, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Trigger {
  readonly id: string;
  readonly name: string;
  readonly endpoint_url: string;
  readonly configured_props: Readonly<Record<string, { readonly endpoint_url: string }>>;
}
interface Workflow {
  readonly id: string;
  readonly version: number;
  readonly revision: number;
  readonly deployment_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly external_id: string | null;
  readonly managed_by: string | null;
  readonly active: boolean;
  readonly settings: { readonly queue_size: number };
  readonly triggers: readonly Trigger[];
  readonly definition: object;
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly version: number;
  readonly event: unknown;
}

const { api } = useInstance();

const answering = (text: string) => ({
  namespace: 'a',
  code: `export default { async run({ $ }) { await $.respond({ status: 200, body: ${JSON.stringify(text)} }) } }`,
});
const hook = (more: object = {}) => ({ type: 'http', name: 'hook', response: 'custom', ...more });
const token = (text: string) => ({ auth: { type: 'bearer', token: text } });
const body = (triggers: readonly object[], steps: readonly object[], more: object = {}) => ({
  name: 'Orders',
  triggers,
  steps,
  ...more,
});
const saved = async (path: string, given: object): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, path === '' ? 'POST' : 'PUT', `/v1/workflows${path}`, { body: given })).data;
const rolledBack = async ({ id }: Workflow, version: number): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'POST', `/v1/workflows/${id}/rollback`, { body: { version } })).data;
const read = async ({ id }: Workflow): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'GET', `/v1/workflows/${id}`)).data;
const trigger = ({ triggers }: Workflow, name: string): Trigger => {
  const found = triggers.find((each) => each.name === name);
  if (!found) throw new Error(`the workflow has no trigger ${name}`);
  return found;
};
const hit = (workflow: Workflow, bearer?: string): Promise<HttpAnswer> =>
  send(trigger(workflow, 'hook').endpoint_url, {
    body: {},
    ...(bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } }),
  });
const refused = (workflow: Workflow, given: object, headers: Record<string, string> = {}) =>
  api.call<ErrorBody>('POST', `/v1/workflows/${workflow.id}/rollback`, { body: given, headers });

// docs/reference/workflows.md#rollback
describe('a rollback', () => {
  it('17: deploys a former version again, as a new one', async () => {
    const first = await saved('', body([hook()], [answering('old')], { settings: { queue_size: 7 } }));
    const second = await saved(`/${first.id}`, body([hook()], [answering('new')]));
    expect(second).toMatchObject({ version: 2, settings: { queue_size: 100 } });
    expect((await hit(first)).text).toBe('new');
    const third = await rolledBack(first, 1);
    expect(third).toMatchObject({ version: 3, settings: { queue_size: 7 }, definition: first.definition });
    expect(third.deployment_id).not.toBe(first.deployment_id);
    expect((await hit(first)).text).toBe('old');
    expect(await read(first)).toEqual(third);
    const { data } = await api.expect<Data<{ version: number; restored_from: number | null }[]>>(
      200,
      'GET',
      `/v1/workflows/${first.id}/versions`,
    );
    expect(data.map(({ version, restored_from }) => [version, restored_from])).toEqual([
      [3, 1],
      [2, null],
      [1, null],
    ]);
    const audit = await api.expect<Data<{ type: string; resource?: { deployed?: object } }[]>>(
      200,
      'GET',
      `/v1/audit/${first.id}`,
    );
    expect(JSON.stringify(audit)).toContain('"restoredFrom":1');
  });

  it('leaves what is no part of a version', async () => {
    const first = await saved('', body([], [answering('a')], { external_id: 'rollback/face' }));
    await saved(`/${first.id}`, body([], [answering('b')]));
    const face = { name: 'Later', description: 'changed', external_id: 'rollback/later', managed_by: 'ci' };
    await saved(`/${first.id}`, { ...face, active: false });
    expect(await rolledBack(first, 1)).toMatchObject({ ...face, version: 3, active: false });
  });

  it('changes nothing when the version is in force already', async () => {
    const first = await saved('', body([hook(token('token-of-one'))], [answering('a')]));
    expect(await rolledBack(first, 1)).toEqual(first);
    await saved(`/${first.id}`, body([hook()], [answering('b')]));
    const third = await rolledBack(first, 1);
    expect(third.version).toBe(3);
    expect(await rolledBack(first, 1)).toEqual(third);
  });

  it('brings back the tokens and the addresses of its triggers', async () => {
    const first = await saved('', body([hook(token('token-of-one'))], [answering('a')]));
    await saved(`/${first.id}`, body([hook(token('token-of-two'))], [answering('a')]));
    expect((await hit(first, 'token-of-one')).status).toBe(401);
    await rolledBack(first, 1);
    expect((await hit(first, 'token-of-one')).status).toBe(200);
    expect((await hit(first, 'token-of-two')).status).toBe(401);

    await saved(`/${first.id}`, body([], [answering('a')]));
    expect((await hit(first, 'token-of-one')).status).toBe(404);
    expect(trigger(await rolledBack(first, 1), 'hook')).toEqual(trigger(first, 'hook'));
    expect((await hit(first, 'token-of-one')).status).toBe(200);
  });

  it('keeps the pins of the version', async () => {
    const action = (version: string) =>
      `export default { type: 'action', key: 'pinned', name: 'Pinned', version: '${version}', run() { return '${version}' } }`;
    const publish = (version: string) =>
      api.expect(200, 'POST', '/v1/components', { body: { component_code: action(version) } });
    await publish('1.0.0');
    const uses = { namespace: 'a', uses: 'pinned' };
    const first = await saved('', body([], [uses]));
    await publish('1.1.0');
    const result = async (workflow: Workflow): Promise<unknown> => {
      const { data } = await api.expect<Data<{ steps: readonly { exports: { $return_value: unknown } }[] }>>(
        200,
        'POST',
        `/v1/workflows/${workflow.id}/invoke`,
        { body: { wait: true } },
      );
      return data.steps[0]?.exports.$return_value;
    };
    await saved(`/${first.id}`, { ...body([], [uses]), refresh: true });
    expect(await result(first)).toBe('1.1.0');
    await rolledBack(first, 1);
    expect(await result(first)).toBe('1.0.0');
  });

  it('is refused for a version that there is not, from another revision, and without a version', async () => {
    const first = await saved('', body([], [answering('a')]));
    const second = await saved(`/${first.id}`, body([], [answering('b')]));
    expect(await refused(first, { version: 3 })).toMatchObject({ status: 404, body: { code: 'version_not_found' } });
    for (const version of [0, 1.5, 'x', undefined])
      expect([version, (await refused(first, { version })).status]).toEqual([version, 400]);
    expect(await refused(first, {})).toMatchObject({
      body: { code: 'missing_parameter', details: { field: 'version' } },
    });
    expect(await refused({ ...first, id: 'p_none' }, {})).toMatchObject({ status: 404 });
    const old = { 'if-match': `"${first.revision}"` };
    expect(await refused(first, { version: 1 }, old)).toMatchObject({ status: 412 });
    expect(await read(first)).toEqual(second);
    const present = { 'if-match': `"${second.revision}"` };
    expect(await refused(first, { version: 1 }, present)).toMatchObject({
      status: 200,
      body: { data: { version: 3 } },
    });
  });

  it('makes one version of a request that is repeated with its key', async () => {
    const first = await saved('', body([], [answering('a')]));
    await saved(`/${first.id}`, body([], [answering('b')]));
    const key = { 'idempotency-key': 'rollback-once' };
    const reply = await refused(first, { version: 1 }, key);
    await saved(`/${first.id}`, body([], [answering('c')]));
    expect(await refused(first, { version: 1 }, key)).toMatchObject({ status: 200, body: reply.body });
    expect(await read(first)).toMatchObject({ version: 4 });
  });
});

// docs/reference/workflows.md#rollback
describe('a rollback with a source of the workflow', () => {
  const SOURCE = `export default {
    key: 'restored', name: 'Restored', version: '0.0.1', type: 'source',
    props: {
      http: { type: '$.interface.http', customResponse: false },
      db: '$.service.db',
      shop: { type: 'string' },
      token: { type: 'string', secret: true },
    },
    hooks: { async activate() { if (this.shop === 'closed') throw new Error('closed'); } },
    async run({ body }) { this.$emit({ shop: this.shop, token: this.token, body }); },
  };`;
  const source = (props: object) => ({ type: 'source', name: 'orders', uses: 'restored', props });
  const steps = [{ namespace: 'a', code: 'export default { run({ event }) { return event } }' }];
  beforeAll(() => api.expect(200, 'POST', '/v1/components', { body: { component_code: SOURCE } }));

  const order = (workflow: Workflow, n: number) =>
    send(trigger(workflow, 'orders').configured_props['http']?.endpoint_url ?? '', { body: { n } });
  const event = ({ id }: Workflow, version: number): Promise<unknown> =>
    eventually(`a run of version ${version}`, async () => {
      const { data } = await api.expect<Data<Run[]>>(200, 'GET', `/v1/workflows/${id}/runs`);
      const run = data.find((each) => each.version === version && each.state === 'succeeded');
      return run && (await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${run.id}`)).data.event;
    });

  it('changes the source back, with its secret', async () => {
    const first = await saved('', body([source({ shop: 'x', token: 'first-secret' })], steps));
    await saved(`/${first.id}`, body([source({ shop: 'y', token: 'second-secret' })], steps));
    const third = await rolledBack(first, 1);
    expect(trigger(third, 'orders')).toMatchObject({ id: trigger(first, 'orders').id });
    await order(third, 3);
    expect(await event(third, 3)).toMatchObject({ shop: 'x', token: 'first-secret' });
    expect(await rolledBack(first, 3)).toEqual(third);
  });

  it('deploys a source that is gone anew, with its secret', async () => {
    const first = await saved('', body([source({ shop: 'x', token: 'first-secret' })], steps));
    await saved(`/${first.id}`, body([], steps));
    const gone = await api.call('GET', `/v1/sources/${trigger(first, 'orders').id}`);
    expect(gone.status).toBe(404);
    const third = await rolledBack(first, 1);
    expect(trigger(third, 'orders').id).not.toBe(trigger(first, 'orders').id);
    await order(third, 3);
    expect(await event(third, 3)).toMatchObject({ shop: 'x', token: 'first-secret' });
    expect(JSON.stringify(await read(third))).not.toContain('first-secret');

    const fourth = await saved(`/${first.id}`, body([], steps));
    expect(await rolledBack(first, 2)).toEqual(fourth);
  });

  it('removes a source that the version lacks, and leaves all as it was when a hook fails', async () => {
    const first = await saved('', body([], steps));
    const second = await saved(`/${first.id}`, body([source({ shop: 'x', token: 't' })], steps));
    await rolledBack(first, 1);
    expect((await api.call('GET', `/v1/sources/${trigger(second, 'orders').id}`)).status).toBe(404);

    const closed = await saved('', body([source({ shop: 'closed', token: 't' })], steps, { active: false }));
    await saved(`/${closed.id}`, body([], steps));
    const present = await saved(`/${closed.id}`, { active: true });
    expect(await refused(closed, { version: 1 })).toMatchObject({
      status: 422,
      body: { code: 'hook_failed', details: { trigger: 'orders' } },
    });
    expect(await read(closed)).toEqual(present);
  });

  it('names what the version needs and is gone', async () => {
    const emitter = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/sources', {
      body: { component_key: 'restored', name: 'emitter', configured_props: { shop: 'x', token: 't' } },
    });
    const { id } = emitter.data;
    const first = await saved(
      '',
      body(
        [
          { type: 'event', emitter: id },
          { type: 'source', id },
        ],
        steps,
      ),
    );
    const second = await saved(`/${first.id}`, body([], steps));
    await api.expect(204, 'DELETE', `/v1/sources/${id}`);
    const reply = await eventually('the source is gone', async () => {
      const answer = await refused(first, { version: 1 });
      return answer.status === 200 ? undefined : answer;
    });
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_definition' } });
    expect(JSON.stringify(reply.body)).toMatch(/triggers\[1\]\.id.*triggers\[0\]\.emitter/);
    expect(await read(first)).toEqual(second);
  });
});
