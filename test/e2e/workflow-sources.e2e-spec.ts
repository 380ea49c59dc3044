import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Trigger {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly component_id: string;
  readonly configured_props: Readonly<Record<string, { readonly endpoint_url: string }>>;
}
interface Workflow {
  readonly id: string;
  readonly version: number;
  readonly revision: number;
  readonly active: boolean;
  readonly triggers: readonly Trigger[];
  readonly subscriptions: readonly object[];
  readonly definition: { readonly triggers: readonly { readonly props: object }[] };
}
interface Run {
  readonly state: string;
  readonly id: string;
  readonly event: unknown;
  readonly trigger: object;
}

const { api } = useInstance();

/** Emits what its endpoint gets, with its props and the hooks that ran. */
const ORDERS = `
const note = (self, hook) => {
  if (self.fails === hook) throw new Error('asked to fail');
  self.db.set('hooks', [...(self.db.get('hooks') ?? []), hook]);
};
export default {
  key: 'orders', name: 'Orders', version: '0.0.1', type: 'source',
  props: {
    http: { type: '$.interface.http', customResponse: false },
    db: '$.service.db',
    shop: { type: 'string' },
    note: { type: 'string', optional: true },
    token: { type: 'string', secret: true, optional: true },
    fails: { type: 'string', optional: true },
  },
  hooks: {
    async deploy() { note(this, 'deploy'); },
    async activate() {
      note(this, 'activate');
      if (this.note === 'slow') await new Promise((resolve) => setTimeout(resolve, 1_000));
    },
    async deactivate() { note(this, 'deactivate'); },
  },
  async run({ body }) {
    const { shop, note, token = null } = this;
    this.$emit({ shop, note, token, body, hooks: this.db.get('hooks') });
  },
};`;

/** Emits at its first tick, which comes right after its deployment. */
const CLOCK = `export default {
  key: 'clock', name: 'Clock', version: '0.0.1', type: 'source',
  props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } } },
  run() { this.$emit({ first: true }); },
};`;

beforeAll(async () => {
  for (const component_code of [ORDERS, CLOCK])
    await api.expect(200, 'POST', '/v1/components', { body: { component_code } });
});

const orders = (props: object = {}, more: object = {}) => ({
  type: 'source',
  name: 'orders',
  uses: 'orders',
  props: { shop: 'x', ...props },
  ...more,
});
const definitionOf = (...triggers: readonly object[]) => ({
  name: 'w',
  triggers,
  steps: [{ namespace: 'a', code: 'export default { run({ event }) { return event } }' }],
});
const deployed = async (...triggers: readonly object[]): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body: definitionOf(...triggers) })).data;
const put = async ({ id }: Pick<Workflow, 'id'>, body: object): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'PUT', `/v1/workflows/${id}`, { body })).data;
const read = async ({ id }: Pick<Workflow, 'id'>): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'GET', `/v1/workflows/${id}`)).data;
const firstTrigger = ({ triggers }: Workflow): Trigger => {
  const [trigger] = triggers;
  if (!trigger) throw new Error('the workflow has no trigger');
  return trigger;
};
const order = (workflow: Workflow, n: number) =>
  send(firstTrigger(workflow).configured_props['http']?.endpoint_url ?? '', { body: { n } });
/** The newest run with its event, once there are so many. */
const run = ({ id }: Workflow, count: number): Promise<Run> =>
  eventually(`${count} runs of ${id}`, async () => {
    const { data } = await api.expect<Data<Run[]>>(200, 'GET', `/v1/workflows/${id}/runs`);
    const [newest] = data;
    if (!newest || data.length < count || newest.state !== 'succeeded') return undefined;
    return (await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${newest.id}`)).data;
  });
const sources = async (): Promise<readonly { readonly id: string }[]> =>
  (await api.expect<Data<{ readonly id: string }[]>>(200, 'GET', '/v1/users/me/sources')).data;
const statusOf = async (path: string): Promise<number> => (await api.call('GET', path)).status;

// docs/reference/workflows.md#trigger-owned-source
describe('a source that a workflow owns', () => {
  it('73: starts runs by its events, and changes with the workflow only', async () => {
    const workflow = await deployed(orders({ token: 'hush-hush' }));
    const trigger = firstTrigger(workflow);
    expect(trigger).toMatchObject({
      type: 'source',
      name: 'orders',
      id: expect.stringMatching(/^dc_[0-9a-z]{18}$/),
      event_name: '',
      active: true,
      component_key: 'orders',
      configured_props: { shop: 'x', token: '********' },
    });
    expect(workflow.definition.triggers[0]?.props).toEqual({ shop: 'x', token: '********' });
    expect((await read(workflow)).triggers).toEqual(workflow.triggers);
    expect(workflow.subscriptions).toMatchObject([{ emitter_id: trigger.id }]);

    await order(workflow, 1);
    expect(await run(workflow, 1)).toMatchObject({
      event: { shop: 'x', token: 'hush-hush', body: { n: 1 }, hooks: ['deploy', 'activate'] },
      trigger: { type: 'source', id: trigger.id, name: 'orders' },
    });
    expect((await sources()).map(({ id }) => id)).toContain(trigger.id);
    expect(await statusOf(`/v1/sources/${trigger.id}/event_summaries`)).toBe(200);

    for (const [method, body] of [
      ['DELETE', undefined],
      ['PUT', { name: 'mine' }],
    ] as const) {
      const path = `/v1/sources/${trigger.id}`;
      const reply = await api.call<ErrorBody>(method, path, body === undefined ? {} : { body });
      expect(reply).toMatchObject({
        status: 409,
        body: { code: 'owned_by_workflow', details: { workflow_id: workflow.id, trigger: 'orders' } },
      });
    }
    await api.expect(204, 'DELETE', `/v1/workflows/${workflow.id}`);
    expect(await statusOf(`/v1/sources/${trigger.id}`)).toBe(404);
  });

  it('73: whose deploy hook throws makes no workflow', async () => {
    const before = await sources();
    const body = { ...definitionOf(orders(), orders({ fails: 'deploy' }, { name: 'bad' })), external_id: 'bad' };
    const reply = await api.call<ErrorBody>('POST', '/v1/workflows', { body });
    expect(reply).toMatchObject({ status: 422, body: { code: 'hook_failed', details: { trigger: 'bad' } } });
    expect(await statusOf('/v1/workflows/ext:bad')).toBe(404);
    expect(await sources()).toEqual(before);
    const { data } = await api.expect<Data<Workflow>>(200, 'PUT', '/v1/workflows/ext:bad', {
      body: definitionOf(orders()),
    });
    expect(data.triggers).toHaveLength(1);
  });

  it('keeps its id, its db and its URL when the workflow changes it', async () => {
    const first = await deployed(orders({ token: 'one', note: 'n' }));
    const masked = await put(first, definitionOf(orders({ token: '********', note: 'n' })));
    expect([masked.version, masked.revision]).toEqual([1, first.revision]);
    expect(await put(first, definitionOf(orders({ token: 'one', note: 'n' })))).toMatchObject({ version: 1 });

    const second = await put(first, definitionOf(orders({ token: 'two', shop: 'y' })));
    expect(second).toMatchObject({ version: 2, triggers: [{ id: firstTrigger(first).id }] });
    await order(first, 2);
    const hooks = ['deploy', 'activate', 'deactivate', 'activate'];
    const { event } = await run(second, 1);
    expect(event).toEqual({ shop: 'y', token: 'two', body: { n: 2 }, hooks });

    const without = await put(first, definitionOf({ type: 'http' }));
    expect(without.version).toBe(3);
    expect(await statusOf(`/v1/sources/${firstTrigger(first).id}`)).toBe(404);
  });

  it('is switched with the workflow', async () => {
    const workflow = await deployed(orders());
    expect(await put(workflow, { active: false })).toMatchObject({ version: 1, triggers: [{ active: false }] });
    expect((await order(workflow, 1)).status).toBe(404);
    expect(await put(workflow, { active: true })).toMatchObject({ version: 1, triggers: [{ active: true }] });
    await order(workflow, 2);
    expect(await run(workflow, 1)).toMatchObject({
      event: { body: { n: 2 }, hooks: ['deploy', 'activate', 'deactivate', 'activate'] },
    });

    const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', {
      body: { ...definitionOf(orders()), active: false },
    });
    expect(data).toMatchObject({ active: false, triggers: [{ active: false }] });
    await order(await put(data, { active: true }), 3);
    expect(await run(data, 1)).toMatchObject({ event: { body: { n: 3 }, hooks: ['deploy', 'activate'] } });
  });

  it('stays as it was when a hook of a change fails', async () => {
    const workflow = await deployed(orders());
    const failing = definitionOf(orders({ shop: 'y', fails: 'activate' }));
    const reply = await api.call<ErrorBody>('PUT', `/v1/workflows/${workflow.id}`, { body: failing });
    expect(reply).toMatchObject({ status: 422, body: { code: 'hook_failed', details: { trigger: 'orders' } } });
    const after = await read(workflow);
    expect([after.version, after.revision]).toEqual([workflow.version, workflow.revision]);
    expect(firstTrigger(after)).toMatchObject({ active: true, configured_props: { shop: 'x' } });
    await order(workflow, 1);
    expect(await run(workflow, 1)).toMatchObject({ event: { shop: 'x' } });

    const stale = { 'if-match': '"0"' };
    const refused = await api.call('PUT', `/v1/workflows/${workflow.id}`, {
      body: definitionOf(orders({ shop: 'z' })),
      headers: stale,
    });
    expect(refused.status).toBe(412);
    expect((await api.call('DELETE', `/v1/workflows/${workflow.id}`, { headers: stale })).status).toBe(412);
    await order(workflow, 2);
    const hooks = ['deploy', 'activate', 'deactivate', 'activate'];
    expect(await run(workflow, 2)).toMatchObject({ event: { shop: 'x', hooks } });
  });

  it('is changed by one of two requests at once', async () => {
    const workflow = await deployed(orders());
    const replies = await Promise.all(
      ['y', 'z'].map((shop) =>
        api.call<ErrorBody>('PUT', `/v1/workflows/${workflow.id}`, {
          body: definitionOf(orders({ shop, note: 'slow' })),
        }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('workflow_busy');
    expect(await read(workflow)).toMatchObject({ version: 2 });
  });

  it('keeps its component until it is looked for anew', async () => {
    const codeOf = (n: number): string => `export default {
      key: 'pinned', name: 'Pinned', version: '0.0.${n}', type: 'source', props: { http: '$.interface.http' },
      run() { this.$emit(${n}); },
    };`;
    const save = (n: number) => api.expect(200, 'POST', '/v1/components', { body: { component_code: codeOf(n) } });
    await save(1);
    const trigger = { type: 'source', uses: 'pinned' };
    const workflow = await deployed(trigger);
    await save(2);
    expect(await put(workflow, definitionOf(trigger))).toMatchObject({ version: 1 });
    await order(workflow, 0);
    expect((await run(workflow, 1)).event).toBe(1);
    const refreshed = await put(workflow, { ...definitionOf(trigger), refresh: true });
    expect(refreshed).toMatchObject({ version: 2, triggers: [{ id: firstTrigger(workflow).id }] });
    await order(workflow, 0);
    expect((await run(workflow, 2)).event).toBe(2);
  });

  it('is deleted in spite of its failing deactivate hook on request only', async () => {
    const workflow = await deployed(orders({ fails: 'deactivate' }));
    const path = `/v1/workflows/${workflow.id}`;
    const reply = await api.call<ErrorBody>('DELETE', path);
    expect(reply).toMatchObject({ status: 422, body: { code: 'hook_failed', details: { trigger: 'orders' } } });
    expect(await read(workflow)).toMatchObject({ id: workflow.id, triggers: [{ active: true }] });
    await api.expect(204, 'DELETE', `${path}?ignore_hook_errors=true`);
    expect(await statusOf(`/v1/sources/${firstTrigger(workflow).id}`)).toBe(404);
  });

  it('starts a run by its first tick, right after the deployment', async () => {
    const workflow = await deployed({ type: 'source', uses: 'clock' });
    expect(await run(workflow, 1)).toMatchObject({ event: { first: true }, trigger: { name: 'source' } });
  });

  it('is refused with wrong props, like any source, at the place in the definition', async () => {
    const wrong = definitionOf(orders({ shop: ['x'], note: ['n'] }), { type: 'source', uses: 'no-such' });
    const { status, body } = await api.call<ErrorBody>('POST', '/v1/workflows', { body: wrong });
    expect(status).toBe(400);
    expect(body.details).toMatchObject({
      errors: [
        { path: 'triggers[0].props.shop', code: 'type' },
        { path: 'triggers[0].props.note', code: 'type' },
        { path: 'triggers[1].uses', code: 'unresolved' },
      ],
    });
  });
});
