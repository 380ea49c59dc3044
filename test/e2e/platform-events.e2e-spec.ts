import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Subscription } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { always } from '#test/harness/webhook-receiver.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance({ env: { SLUICE_DAILY_CREDITS: '40' } });
const { api } = instance;

interface Told {
  readonly event: { readonly kind: string; readonly subject: string; readonly message: string; readonly ts: string };
  readonly metadata: { readonly name: string; readonly emitter_id: string };
}

const workspaceId = async (): Promise<string> =>
  (await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me')).data.orgs[0]?.id ?? '';
const told = async (id: string): Promise<readonly Told[]> =>
  (await api.expect<Data<Told[]>>(200, 'GET', `/v1/workspaces/${id}/$platform/event_summaries`)).data;
const toldOf = (id: string, kind: string): Promise<Told> =>
  eventually(`an event ${kind}`, async () => (await told(id)).find(({ event }) => event.kind === kind));

// docs/reference/rest-api.md#platform-events
describe('$platform', () => {
  // docs/reference/rest-api.md#platform-events
  it('tells of a disabled webhook, in the list, to a webhook and to a source', async () => {
    const workspace = await workspaceId();
    const source = await instance.deploy(relayCode());
    const failing = await instance.listen(source.id);
    const watching = (await api.createWebhook(`${instance.receiver.url}/watching`)).id;
    const listener = await instance.deploy(componentCode({ members: 'run(event) { this.$emit(event.kind); },' }));
    const subscribe = (listenerId: string) => api.subscribe(workspace, listenerId, '$platform');
    for (const id of [watching, listener.id]) await subscribe(id);
    instance.receiver.behave((_, { headers }) => ({ status: headers['x-pd-webhook-id'] === failing ? 410 : 200 }));
    await instance.post(source, { n: 1 });

    const { event, metadata } = await toldOf(workspace, 'webhook_disabled');
    expect(event).toMatchObject({ subject: failing, message: expect.stringMatching(/was disabled: .*410/) });
    expect(metadata).toMatchObject({ name: '$platform', emitter_id: workspace });
    await instance.receiver.until('the watcher knows', () => instance.arrived(watching).length > 0);
    expect(instance.arrived(watching)[0]).toEqual(event);
    expect(await instance.payloads(listener, 1)).toEqual(['webhook_disabled']);
    instance.receiver.behave(always(200));
  });

  // docs/reference/rest-api.md#platform-events
  it('tells of a webhook that fails, and when it answers again, but not to that webhook', async () => {
    const workspace = await workspaceId();
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    await api.subscribe(workspace, webhook, '$platform');
    instance.receiver.behave((_, { headers }) => ({ status: headers['x-pd-webhook-id'] === webhook ? 500 : 200 }));
    for (let n = 0; n < 12; n++) await instance.post(source, { n });
    expect((await toldOf(workspace, 'webhook_unhealthy')).event).toMatchObject({ subject: webhook });
    instance.receiver.behave(always(200));
    const recovered = await eventually(
      'it answers again',
      async () => (await told(workspace)).find(({ event }) => event.kind === 'webhook_recovered'),
      60_000,
    );
    expect(recovered.event.subject).toBe(webhook);
    // The last event comes after all that the router sent before it.
    await instance.post(source, { last: true });
    await eventually(
      'the last event',
      async () => instance.arrived(webhook).some((body) => (body as { last?: true }).last) || undefined,
    );
    expect(instance.arrived(webhook).filter((body) => 'kind' in (body as object))).toEqual([]);
  }, 90_000);

  it('tells of a quota that is used up', async () => {
    const workspace = await workspaceId();
    const source = await instance.deploy(relayCode());
    await eventually('a refusal', async () => (await instance.post(source, {})).status === 429 || undefined, 60_000);
    const { event } = await toldOf(workspace, 'quota_exceeded');
    expect(event).toMatchObject({ subject: workspace, message: expect.stringMatching(/40 credits of today/) });
  }, 90_000);

  it('is read by members only, and is no channel of a component or a user', async () => {
    const workspace = await workspaceId();
    const foreign = await api.call<ErrorBody>('GET', '/v1/workspaces/o_0k2f9x8a1b3c5d7e9f/$platform/event_summaries');
    expect(foreign.status).toBe(404);
    const webhook = (await api.createWebhook(`${instance.receiver.url}/x`)).id;
    const { data: user } = await api.expect<Data<{ id: string }>>(200, 'GET', '/v1/users/me');
    const query = { emitter_id: user.id, listener_id: webhook, event_name: '$platform' };
    const refused = await api.call<ErrorBody>('POST', '/v1/subscriptions', { query });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_event_name']);
    const made = await api.expect<Data<Subscription>>(200, 'POST', '/v1/subscriptions', {
      query: { ...query, emitter_id: workspace },
    });
    expect(made.data.event_name).toBe('$platform');
  });
});
