import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type EventSummary, type Subscription } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url?: string }[];
  readonly subscriptions: readonly object[];
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly event: unknown;
  readonly trigger: object;
}

const instance = useInstance();
const { api } = instance;

const deployed = async (body: string, triggers: readonly object[] = [{ type: 'http' }]): Promise<Workflow> => {
  const code = `export default { async run({ steps, $ }) { ${body} } }`;
  const definition = { name: 'w', triggers, steps: [{ namespace: 'a', code }] };
  return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body: definition })).data;
};
const redeployed = async ({ id }: Workflow, triggers: readonly object[]): Promise<Workflow> => {
  const body = { triggers, steps: [{ namespace: 'a', code: 'export default { run() {} }' }] };
  return (await api.expect<Data<Workflow>>(200, 'PUT', `/v1/workflows/${id}`, { body })).data;
};
const subscriptionsTo = async ({ id }: Workflow): Promise<readonly Subscription[]> =>
  (await api.expect<Data<Subscription[]>>(200, 'GET', '/v1/users/me/subscriptions')).data.filter(
    ({ listener_id }) => listener_id === id,
  );
const hit = ({ triggers }: Workflow) => send(triggers[0]?.endpoint_url ?? '', { body: { n: 1 } });
const endedRuns = (id: string, count: number): Promise<readonly Run[]> =>
  eventually(`${count} runs of ${id}`, async () => {
    const { data } = await api.expect<Data<Run[]>>(200, 'GET', `/v1/workflows/${id}/runs`);
    return data.length >= count && data.every(({ state }) => state === 'succeeded') ? data : undefined;
  });
const eventOf = async ({ id }: Run): Promise<unknown> =>
  (await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${id}`)).data.event;
const summaries = (id: string, list: string): Promise<readonly EventSummary[]> =>
  eventually(`events of ${id}`, async () => {
    const { data } = await api.expect<Data<EventSummary[]>>(200, 'GET', `/v1/workflows/${id}/${list}`);
    return data.length > 0 ? data : undefined;
  });

// docs/reference/workflows.md#subscribed
describe('a workflow', () => {
  it('60: shows what it emits under raw_event, and sends the value alone to a webhook', async () => {
    const workflow = await deployed('$.send.emit({ raw_event: { a: 1 } })');
    const webhook = await api.createWebhook(instance.receiver.url);
    await api.subscribe(workflow.id, webhook.id);
    await hit(workflow);
    const [summary] = await summaries(workflow.id, 'event_summaries');
    expect(summary).toMatchObject({ event: { raw_event: { a: 1 } }, metadata: { name: '', emitter_id: workflow.id } });
    const isOurs = ({ headers }: { headers: NodeJS.Dict<string | string[]> }): boolean =>
      headers['x-pd-emitter-id'] === workflow.id;
    await instance.receiver.until('the event', () => instance.receiver.received.some(isOurs));
    expect(instance.receiver.received.find(isOurs)?.body).toEqual({ a: 1 });
  });

  it('has its errors in a list, and sends them to those that listen to all workflows', async () => {
    const listener = await deployed('');
    await api.subscribe('p_*', listener.id, '$errors');
    const failing = await deployed('throw new Error("asked to fail")');
    await hit(failing);
    const [error] = await summaries(failing.id, '$errors/event_summaries');
    expect(error).toMatchObject({ event: { error: { message: 'asked to fail', namespace: 'a' } } });
    const [run] = await endedRuns(listener.id, 1);
    expect(run?.trigger).toEqual({ type: 'event', id: failing.id, name: null });
  });

  it('runs for what a source emits, and drops it while it is inactive', async () => {
    const [listener, other] = [await deployed(''), await deployed('')];
    const source = await instance.deploy(relayCode());
    for (const { id } of [listener, other]) await api.subscribe(source.id, id);
    await instance.post(source, { n: 1 });
    await endedRuns(listener.id, 1);
    await api.expect(200, 'PUT', `/v1/workflows/${listener.id}`, { body: { active: false } });
    await instance.post(source, { n: 2 });
    await endedRuns(other.id, 2);
    await api.expect(200, 'PUT', `/v1/workflows/${listener.id}`, { body: { active: true } });
    await instance.post(source, { n: 3 });
    const runs = await endedRuns(listener.id, 2);
    expect(await Promise.all(runs.map(eventOf))).toEqual([{ n: 3 }, { n: 1 }]);
    expect(runs[0]?.trigger).toEqual({ type: 'event', id: source.id, name: null });
  });

  it('is subscribed to by auto-subscriptions', async () => {
    const listener = await deployed('');
    const query = { event_name: '$errors', listener_id: listener.id };
    await api.expect(200, 'POST', '/v1/auto_subscriptions', { query });
    const failing = await deployed('throw new Error("asked to fail")');
    await api.expect(204, 'DELETE', '/v1/auto_subscriptions', { query });
    await hit(failing);
    const runs = await endedRuns(listener.id, 1);
    expect(runs[0]?.trigger).toMatchObject({ id: failing.id });
  });
});

// docs/reference/workflows.md#trigger-event
describe('a trigger', () => {
  it('74: starts a run for each event of its emitters that passes its filter, and keeps its id over versions', async () => {
    const source = await instance.deploy(relayCode());
    const orders = { type: 'event', name: 'orders', emitter: 'dc_*', filter: { kind: 'order' } };
    const workflow = await deployed('', [orders]);
    const [subscribed] = await subscriptionsTo(workflow);
    const shown = { id: subscribed?.id, emitter_id: 'dc_*', event_name: '', filter: orders.filter };
    expect(workflow.subscriptions).toEqual([shown]);
    expect(workflow.triggers).toEqual([
      {
        type: 'event',
        name: 'orders',
        id: subscribed?.id,
        emitter_id: 'dc_*',
        event_name: '',
        filter: orders.filter,
      },
    ]);
    await instance.post(source, { kind: 'other' });
    await instance.post(source, { kind: 'order' });
    const [run, ...others] = await endedRuns(workflow.id, 1);
    expect([run?.trigger, others]).toEqual([{ type: 'event', id: source.id, name: 'orders' }, []]);
    const beside = await api.subscribe(source.id, workflow.id, 'beside');
    const changed = await redeployed(workflow, [{ ...orders, filter: { kind: 'other' } }]);
    const other = { id: beside.id, emitter_id: source.id, event_name: 'beside', filter: null };
    const both = [{ ...shown, filter: { kind: 'other' } }, other];
    expect(changed.subscriptions).toEqual(both);
    const read = await api.expect<Data<Workflow>>(200, 'GET', `/v1/workflows/${workflow.id}`);
    expect(new Set(read.data.subscriptions)).toEqual(new Set(both));
    await api.expect(204, 'DELETE', '/v1/subscriptions', {
      query: { emitter_id: source.id, listener_id: workflow.id, event_name: 'beside' },
    });
    expect(await subscriptionsTo(workflow)).toMatchObject([{ id: subscribed?.id, filter: { kind: 'other' } }]);
    await redeployed(workflow, []);
    expect(await subscriptionsTo(workflow)).toEqual([]);
  });

  it('listens to a source of the workspace, also without a type', async () => {
    const source = await instance.deploy(relayCode());
    const workflow = await deployed('', [{ id: source.id }]);
    expect(workflow.triggers).toMatchObject([{ type: 'source', name: 'source', id: source.id, event_name: '' }]);
    await instance.post(source, { n: 1 });
    const [run] = await endedRuns(workflow.id, 1);
    expect(run?.trigger).toEqual({ type: 'source', id: source.id, name: 'source' });
    const query = { emitter_id: source.id, listener_id: workflow.id };
    for (const method of ['POST', 'DELETE']) {
      const { status, body } = await api.call<ErrorBody>(method, '/v1/subscriptions', { query });
      expect([status, body.code]).toEqual([409, 'owned_by_workflow']);
    }
    await api.expect(204, 'DELETE', `/v1/workflows/${workflow.id}`);
    expect(await subscriptionsTo(workflow)).toEqual([]);
  });
});
