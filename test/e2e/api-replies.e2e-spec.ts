import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type Paged, type Source, type Subscription, type Webhook } from '#test/harness/api-client.js';
import { ApiContract, routesOf } from '#test/harness/api-contract.js';
import { componentCode } from '#test/harness/component-code.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';
import { waitingRun } from '#test/harness/waiting-run.js';
import { always } from '#test/harness/webhook-receiver.js';
import { bulkOf } from './api-replies.bulk.js';
import { CODE } from './api-replies.component.js';
import { toolsOf, versionsOf } from './api-replies.versions.js';

const instance = useInstance();

interface DescribedWorkflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url?: string }[];
}

/** Routes that succeed elsewhere. */
const WITHOUT_SUCCESS = [
  // Its success is in test/e2e/members.
  'DELETE /v1/workspaces/{id}/members/{userId}',
  // Its success is in test/e2e/registry.
  'GET /v1/components/registry/{key}',
];

/** Each reply of a running server has exactly the fields that its OpenAPI document describes. */
describe('the OpenAPI document agrees with the reply of', () => {
  let contract: ApiContract;
  let source: Source;
  let webhook: Webhook;
  let workspace: string;

  beforeAll(async () => {
    contract = await ApiContract.of(instance.api);
    const props = { token: 'a secret text' };
    const body = { component_code: CODE, configured_props: props, name: 'Described' };
    source = (await contract.expect<Data<Source>>(200, 'POST /v1/sources', { body })).data;
    const query = { url: instance.receiver.url, name: 'Receiver' };
    webhook = (await contract.expect<Data<Webhook>>(200, 'POST /v1/webhooks', { query })).data;
    workspace = (await instance.api.expect<Data<{ owner_id: string }>>(200, 'GET', `/v1/sources/${source.id}`)).data
      .owner_id;
  }, 60_000);

  it('components', async () => {
    const body = { component_code: CODE, component_url: 'https://example.com/a.mjs' };
    const { data } = await contract.expect<Data<{ id: string }>>(200, 'POST /v1/components', { body });
    await contract.expect(200, 'GET /v1/components/{keyOrId}', { path: { keyOrId: data.id } });
    await contract.expect(200, 'GET /v1/components/{keyOrId}/packages', { path: { keyOrId: data.id } });
    await contract.expect(200, 'GET /v1/components', { query: { package: 'left-pad@1.3.0' } });
    await contract.expect(404, 'GET /v1/components/registry');
    await contract.expect(404, 'GET /v1/components/registry/{key}', { path: { key: 'a' } });
    await contract.expect(200, 'GET /v1/components/search', { query: { query: 'order' } });
    await contract.expect(400, 'POST /v1/components', { body: { component_code: 'export default {' } });
    const inUse = { path: { keyOrId: data.id } };
    for (const list of ['workspaces', 'orgs'])
      await contract.expect(200, `GET /v1/${list}/{id}/components`, { path: { id: workspace }, query: { q: 'a' } });
    await contract.expect(409, 'DELETE /v1/components/{keyOrId}', inUse);
    const unused = { component_code: componentCode({ members: 'run() { return "unused"; },' }) };
    const saved = await contract.expect<Data<{ id: string }>>(200, 'POST /v1/components', { body: unused });
    await contract.expect(204, 'DELETE /v1/components/{keyOrId}', { path: { keyOrId: saved.data.id } });
  });

  it('calls of components', async () => {
    const asked = componentCode({
      props: `
        http: '$.interface.http',
        kind: { type: 'string', optional: true, reloadProps: true, options() { return { options: ['x'], context: { at: 1 } }; } },
        wrong: { type: 'string', optional: true, options() { console.log('asked'); throw new Error('no list'); } },`,
      members: `additionalProps() { return { more: { type: 'integer' } }; }, run() {},`,
    });
    const { data } = await contract.expect<Data<{ id: string }>>(200, 'POST /v1/components', {
      body: { component_code: asked },
    });
    for (const prop_name of ['kind', 'wrong']) {
      await contract.expect(200, 'POST /v1/components/configure', { body: { id: data.id, prop_name } });
    }
    await contract.expect(400, 'POST /v1/components/configure', { body: { id: data.id, prop_name: 'none' } });
    await contract.expect(200, 'POST /v1/components/props', {
      body: { id: data.id, configured_props: { kind: 'x' } },
    });
    const action = `export default { name: 'Act', version: '1', type: 'action', props: { fail: { type: 'boolean', optional: true } },
      run({ $ }) { console.log('ran'); if (this.fail) throw new Error('asked to'); $.export('a', { b: 1 }); return [1]; } };`;
    const saved = await contract.expect<Data<{ id: string }>>(200, 'POST /v1/components', {
      body: { component_code: action },
    });
    await contract.expect(200, 'POST /v1/actions/run', { body: { id: saved.data.id } });
    const failing = { id: saved.data.id, configured_props: { fail: true } };
    await contract.expect(422, 'POST /v1/actions/run', { body: failing });
  });

  it('data stores', async () => {
    const body = { name: 'described' };
    const { data: store } = await contract.expect<Data<{ id: string }>>(200, 'POST /v1/data_stores', { body });
    const path = { id: store.id, key: 'a' };
    await contract.expect(200, 'GET /v1/data_stores');
    await contract.expect(200, 'GET /v1/data_stores/{id}', { path });
    await contract.expect(200, 'PUT /v1/data_stores/{id}', { path, body: { name: 'renamed' } });
    await contract.expect(200, 'PUT /v1/data_stores/{id}/records/{key}', { path, body: { value: { n: 1 }, ttl: 60 } });
    await contract.expect(200, 'GET /v1/data_stores/{id}/records', { path });
    await contract.expect(200, 'GET /v1/data_stores/{id}/records/{key}', { path });
    await contract.expect(204, 'DELETE /v1/data_stores/{id}/records/{key}', { path });
    await contract.expect(404, 'GET /v1/data_stores/{id}/records/{key}', { path });
    await contract.expect(204, 'DELETE /v1/data_stores/{id}', { path });
  });

  it('sources', async () => {
    const path = { idOrSlug: source.id, id: workspace };
    await contract.expect(200, 'GET /v1/sources/{idOrSlug}', { path });
    await contract.expect(200, 'GET /v1/sources/{idOrSlug}/db', { path });
    const ofWorkspace = ['orgs', 'workspaces'].flatMap((kind) => [`${kind}/{id}/sources`, `${kind}/{id}/stats`]);
    for (const route of ['users/me/sources', ...ofWorkspace]) await contract.expect(200, `GET /v1/${route}`, { path });
    await contract.expect(200, 'PUT /v1/sources/{idOrSlug}', { path, body: { configured_props: { kind: 'b' } } });
    await contract.expect(422, 'PUT /v1/sources/{idOrSlug}', { path, body: { configured_props: { count: 9 } } });
    await contract.expect(200, 'GET /v1/sources/{id}/sse', { path: { id: source.id } });
    await contract.expect(200, 'GET /v1/workspaces/{id}/sse', { path: { id: workspace } });
    await contract.expect(202, 'POST /v1/sources/{idOrSlug}/run', { path, body: { event: {} } });
    for (const event of [{}, { body: { fail: true } }]) {
      const run = { path, query: { wait: 'true' }, body: { event } };
      const { data } = await contract.expect<Data<{ observations: unknown[] }>>(
        200,
        'POST /v1/sources/{idOrSlug}/run',
        run,
      );
      expect(data.observations.length).toBeGreaterThan(0);
    }
    await contract.expect(200, 'POST /v1/sources/{idOrSlug}/sample_emit', { path });
    await contract.expect(404, 'GET /v1/sources/{idOrSlug}', { path: { idOrSlug: 'dc_none' } });
    for (const list of ['event_summaries', '$errors/event_summaries', 'sse'])
      await contract.expect(404, `GET /v1/workflows/{id}/${list}`, { path: { id: 'p_none' } });
  });

  it('definitions of workflows', async () => {
    await contract.expect(200, 'POST /v1/workflows/validate', { body: { name: 'Described', stesp: [] } });
    await contract.expect(400, 'POST /v1/workflows/validate', { body: { steps: 1 } });
    await contract.expect(200, 'GET /v1/workflows/schema.json');
    await toolsOf(contract);
  });

  it('workflows', async () => {
    const step = { namespace: 'a', code: 'export default { run() {} }', retry: { max_retries: 1 } };
    const body = { name: 'Described', triggers: [{ type: 'http' }, { type: 'manual' }], steps: [step], stesp: [] };
    const { data } = await contract.expect<Data<DescribedWorkflow>>(200, 'POST /v1/workflows', { body });
    const path = { id: data.id };
    await contract.expect(202, 'POST /v1/workflows/{id}/invoke', { path, body: { event: [1] } });
    await contract.expect(200, 'POST /v1/workflows/{id}/invoke', { path, body: { wait: true } });
    await contract.expect(400, 'POST /v1/workflows/{id}/invoke', { path, body: { wait_seconds: 0 } });
    await runsOf(data);
    for (const list of ['event_summaries', '$errors/event_summaries'])
      await contract.expect(200, `GET /v1/workflows/{id}/${list}`, { path });
    await contract.expect(200, 'GET /v1/workflows/{id}', { path });
    await contract.expect(200, 'PUT /v1/workflows/{id}', {
      path,
      body: { settings: { throttle: null, queue_size: 5 } },
    });
    await contract.expect(400, 'PUT /v1/workflows/{id}', { path, body: {} });
    await contract.expect(200, 'GET /v1/workflows', { query: { include_stats: 'true' } });
    await versionsOf(contract, path);
    for (const of of ['orgs', 'workspaces'])
      await contract.expect(200, `GET /v1/${of}/{id}/workflows`, { path: { id: workspace } });
    await contract.expect(204, 'DELETE /v1/workflows/{id}', { path });
    await contract.expect(404, 'GET /v1/workflows/{id}', { path });
  });

  const runsOf = async ({ id, triggers }: DescribedWorkflow): Promise<void> => {
    const { headers } = await send(triggers[0]?.endpoint_url ?? '', { body: {} });
    const path = { id: String(headers['x-sluice-run-id']) };
    await eventually('the run has ended', async () => {
      const reply = await instance.api.call<{ data?: { state: string } }>('GET', `/v1/runs/${path.id}`);
      return reply.body.data?.state === 'succeeded' ? true : undefined;
    });
    await contract.expect(200, 'GET /v1/runs');
    await contract.expect(200, 'GET /v1/workflows/{id}/runs', { path: { id } });
    for (const stream of ['sse', 'runs/sse'])
      await contract.expect(200, `GET /v1/workflows/{id}/${stream}`, { path: { id } });
    await contract.expect(200, 'GET /v1/runs/{id}', { path });
    await contract.expect(200, 'GET /v1/runs/{id}/sse', { path });
    await contract.expect(200, 'GET /v1/runs/{id}/steps/{namespace}', { path: { ...path, namespace: 'a' } });
    await contract.expect(404, 'GET /v1/runs/{id}/steps/{namespace}', { path: { ...path, namespace: 'b' } });
    await contract.expect(200, 'POST /v1/runs/{id}/cancel', { path: await waitingRun(instance.api) });
    const resumed = { path: await waitingRun(instance.api), body: { data: [1] } };
    await contract.expect(200, 'POST /v1/runs/{id}/resume', resumed);
    await contract.expect(409, 'POST /v1/runs/{id}/cancel', { path });
    await bulkOf(contract, id, path.id);
    await contract.expect(409, 'POST /v1/runs/{id}/resume', { path, body: { data: 1 } });
    await contract.expect(202, 'POST /v1/runs/{id}/replay', { path, body: { from: 'a' } });
    await contract.expect(409, 'POST /v1/runs/{id}/replay', { path, body: { from: 'b' } });
    await contract.expect(204, 'DELETE /v1/runs/{id}', { path });
    await contract.expect(404, 'GET /v1/runs/{id}', { path });
  };

  it('events of apps', async () => {
    const hooked = componentCode({
      props: `chat: { type: 'app', app: 'described' }, hook: { type: '$.interface.apphook', appProp: 'chat' }`,
      members: 'run() {},',
    });
    await contract.expect(200, 'POST /v1/sources', { body: { component_code: hooked } });
    const body = { event_name: 'message', payload: { text: 'hi' } };
    for (const slug of ['described', 'nobody'])
      await contract.expect(202, 'POST /v1/apps/{slug}/events', { path: { slug }, body });
    const path = { slug: 'described' };
    await contract.expect(400, 'POST /v1/apps/{slug}/events', { path, body: { payload: 1 } });
  });

  it('events', async () => {
    const path = { id: source.id };
    const [event] = await instance.history(source, 4);
    await instance.history(source, 1, '$errors');
    for (const list of ['event_summaries', 'events', '$errors/event_summaries', '$logs/event_summaries']) {
      for (const query of [{ limit: '100' }, { expand: 'event' }]) {
        const route = `GET /v1/sources/{id}/${list}`;
        const { data } = await contract.expect<Paged<unknown>>(200, route, { path, query });
        expect(data).not.toEqual([]);
      }
    }
    await contract.expect(400, 'GET /v1/sources/{id}/event_summaries', { path, query: { after: 'nothing' } });
    const { data } = await contract.expect<Paged<{ id: string }>>(200, 'GET /v1/sources/{id}/runs', { path });
    await contract.expect(200, 'GET /v1/sources/{id}/runs/{runId}', { path: { ...path, runId: data[0]?.id ?? '' } });
    const one = { id: source.id, eventId: event?.id ?? '' };
    for (const part of ['', '/payload'])
      await contract.expect(200, `GET /v1/sources/{id}/events/{eventId}${part}`, { path: one });
    await contract.expect(404, 'GET /v1/sources/{id}/events/{eventId}', { path: { ...one, eventId: '1-0' } });
    for (const list of ['workspaces', 'orgs'])
      await contract.expect(200, `GET /v1/${list}/{id}/event_summaries`, {
        path: { id: workspace },
        query: { q: 'a' },
      });
    await contract.expect(202, 'DELETE /v1/sources/{id}/events', { path });
    await contract.expect(200, 'GET /v1/sources/{id}/event_summaries', { path });
  });

  it('subscriptions', async () => {
    const query = { emitter_id: source.id, listener_id: webhook.id };
    await contract.expect<Data<Subscription>>(200, 'POST /v1/subscriptions', { query });
    await contract.expect(200, 'GET /v1/users/me/subscriptions');
    const path = { workspaceId: workspace };
    await contract.expect(200, 'GET /v1/workspaces/{workspaceId}/subscriptions', { path });
  });

  it('webhooks', async () => {
    const path = { id: webhook.id };
    await contract.expect(200, 'GET /v1/webhooks/{id}', { path });
    await contract.expect(200, 'GET /v1/users/me/webhooks');
    for (const list of ['workspaces/{id}/webhooks', 'orgs/{id}/webhooks', 'workspaces/{id}/sources'])
      await contract.expect(200, `GET /v1/${list}`, { path: { id: workspace }, query: { include_stats: 'true' } });
    await contract.expect(200, 'PUT /v1/webhooks/{id}', { path, body: { description: 'Changed' } });
    await contract.expect(200, 'POST /v1/webhooks/{id}/regenerate_signing_key', { path });
    instance.receiver.behave(always(500));
    await contract.expect(202, 'POST /v1/sources/{idOrSlug}/run', { path: { idOrSlug: source.id }, body: {} });
    const failed = await eventually('a delivery has failed', () => deliveryWith('retry'));
    instance.receiver.behave(always(200));
    const again = { ...path, deliveryId: failed };
    await contract.expect(200, 'POST /v1/webhooks/{id}/test', { path, body: { payload: [1] } });
    await contract.expect(200, 'GET /v1/webhooks/{id}/deliveries/{deliveryId}', { path: again });
    await contract.expect(200, 'POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver', { path: again });
    await eventually('a delivery has arrived', () => deliveryWith('success'));
    const many = { path, query: { outcome: 'success' } };
    await contract.expect(200, 'POST /v1/webhooks/{id}/deliveries/redeliver', many);
  });

  const deliveryWith = async (outcome: string): Promise<string | undefined> => {
    const route = 'GET /v1/webhooks/{id}/deliveries';
    type Deliveries = Paged<{ id: string; outcome: string }>;
    const { data } = await contract.expect<Deliveries>(200, route, { path: { id: webhook.id } });
    return data.find((delivery) => delivery.outcome === outcome)?.id;
  };

  it('emails about errors', async () => {
    const route = '/v1/sources/{id}/error_emails';
    await contract.expect(200, `GET ${route}`, { path: { id: source.id } });
    await contract.expect(200, `PUT ${route}`, { path: { id: source.id }, body: { enabled: false } });
  });

  it('events of the platform', async () => {
    await contract.expect(200, 'GET /v1/workspaces/{id}/$platform/event_summaries', { path: { id: workspace } });
  });

  it('replays', async () => {
    const { data: listed } = await instance.api.expect<Data<Subscription[]>>(200, 'GET', '/v1/users/me/subscriptions');
    const path = { id: listed[0]?.id ?? '' };
    const body = { wait: true };
    await contract.expect(200, 'POST /v1/sources/{idOrSlug}/run', { path: { idOrSlug: source.id }, body });
    const route = 'POST /v1/subscriptions/{id}/replay';
    await eventually('a replay has started', async () => {
      const { status } = await instance.api.call('POST', `/v1/subscriptions/${path.id}/replay`);
      return status === 202 || undefined;
    });
    await contract.expect(204, 'DELETE /v1/subscriptions/{id}/replay', { path });
    await contract.expect(404, 'DELETE /v1/subscriptions/{id}/replay', { path });
    await contract.expect(404, route, { path, query: { start_id: '1-0', end_id: '1-1' } });
    await contract.expect(202, route, { path, query: { rate: '1' } });
    await contract.expect(200, 'GET /v1/subscriptions/{id}/replay', { path });
  });

  it('auto-subscriptions', async () => {
    const query = { event_name: '$errors', listener_id: webhook.id };
    await contract.expect(200, 'POST /v1/auto_subscriptions', { query });
    await contract.expect(400, 'POST /v1/auto_subscriptions', { query: { listener_id: webhook.id } });
    await contract.expect(200, 'GET /v1/users/me/auto_subscriptions');
    await contract.expect(204, 'DELETE /v1/auto_subscriptions', { query });
  });

  it('accounts', async () => {
    const body = { app: 'slack', credentials: { api_key: 'abcd' } };
    const { data } = await contract.expect<Data<{ id: string }>>(200, 'POST /v1/accounts', { body });
    const path = { id: data.id };
    await contract.expect(200, 'GET /v1/accounts');
    await contract.expect(200, 'GET /v1/workspaces/{id}/accounts', { path: { id: workspace } });
    await contract.expect(200, 'GET /v1/accounts/{id}', { path, query: { include_credentials: 'true' } });
    await contract.expect(200, 'PUT /v1/accounts/{id}', { path, body: { name: 'Team' } });
    await contract.expect(204, 'DELETE /v1/accounts/{id}', { path });
    const code = `export default { name: 'App user', version: '0.0.1', props: { a: { type: 'app', app: 'slack' } }, run() {} }`;
    await contract.expect(200, 'POST /v1/components', { body: { component_code: code } });
    await contract.expect(200, 'GET /v1/apps');
    await contract.expect(200, 'GET /v1/apps/{idOrSlug}', { path: { idOrSlug: 'slack' } });
  });

  it('variables', async () => {
    const path = { id: workspace, name: 'A' };
    const route = '/v1/workspaces/{id}/variables';
    await contract.expect(200, `PUT ${route}/{name}`, { path, body: { value: 'x' } });
    await contract.expect(400, `PUT ${route}/{name}`, { path, body: {} });
    await contract.expect(200, `GET ${route}`, { path: { id: workspace } });
    await contract.expect(204, `DELETE ${route}/{name}`, { path });
  });

  it('users, workspaces and API keys', async () => {
    await contract.expect(200, 'GET /v1/users/me');
    await contract.expect(200, 'GET /v1/users/me/workspaces');
    await contract.expect(200, 'GET /v1/limits');
    // docs/reference/rest-api.md#server
    await contract.expect(200, 'GET /v1/server');
    for (const route of ['', '/projects', '/audit', '/audit/export'])
      await contract.expect(200, `GET /v1/workspaces/{id}${route}`, { path: { id: workspace } });
    await contract.expect(200, 'GET /v1/orgs/{id}', { path: { id: workspace } });
    for (const list of [
      'projects',
      'audit',
      'audit/export',
      'members',
      'accounts',
      'variables',
      '$platform/event_summaries',
    ])
      await contract.expect(200, `GET /v1/orgs/{id}/${list}`, { path: { id: workspace } });
    await contract.expect(200, 'GET /v1/orgs/{workspaceId}/subscriptions', { path: { workspaceId: workspace } });
    const route = 'GET /v1/workspaces/{id}/members';
    const { data: members } = await contract.expect<Data<{ user_id: string }[]>>(200, route, {
      path: { id: workspace },
    });
    const userId = members[0]?.user_id ?? '';
    const member = { path: { id: workspace, userId }, body: { user_id: userId, role: 'owner' } };
    await contract.expect(200, 'POST /v1/workspaces/{id}/members', member);
    await contract.expect(200, 'PUT /v1/workspaces/{id}/members/{userId}', member);
    const nobody = { path: { id: workspace, userId: 'u_none' } };
    await contract.expect(404, 'DELETE /v1/workspaces/{id}/members/{userId}', nobody);
    const body = { name: 'Described' };
    const { data: key } = await contract.expect<Data<{ id: string }>>(200, 'POST /v1/api_keys', { body });
    await contract.expect(200, 'GET /v1/api_keys');
    await contract.expect(204, 'DELETE /v1/api_keys/{id}', { path: { id: key.id } });
  });

  it('the history of each kind of resource', async () => {
    const { data: me } = await instance.api.expect<Data<{ id: string }>>(200, 'GET', '/v1/users/me');
    const { data: keys } = await instance.api.expect<Data<{ id: string }[]>>(200, 'GET', '/v1/api_keys');
    const { data: subscriptions } = await instance.api.expect<Data<Subscription[]>>(
      200,
      'GET',
      '/v1/users/me/subscriptions',
    );
    const of = [source.id, source.component_id, webhook.id, workspace, me.id, keys[0]?.id, subscriptions[0]?.id];
    for (const id of of.map((each) => each ?? 'none')) {
      await contract.expect(200, 'GET /v1/audit/{id}', { path: { id } });
      await contract.expect(200, 'GET /v1/audit/{id}', { path: { id }, query: { at: '0' } });
    }
  });

  it('deletions', async () => {
    const query = { emitter_id: source.id, listener_id: webhook.id };
    await contract.expect(204, 'DELETE /v1/subscriptions', { query });
    await contract.expect(204, 'DELETE /v1/sources/{idOrSlug}', { path: { idOrSlug: source.id } });
    await contract.expect(204, 'DELETE /v1/webhooks/{id}', { path: { id: webhook.id } });
  });

  it("the operator's routes", async () => {
    await contract.expect(200, 'GET /healthz');
    await contract.expect(200, 'GET /readyz');
    const { status } = await instance.api.call('GET', '/metrics');
    expect([200, 403]).toContain(status); // 403 through a proxy
    await contract.expect(status, 'GET /metrics');
  });

  it('every route that it names', () => {
    const uncalled = routesOf(contract.document).filter((route) => !contract.called.has(route));
    expect(uncalled.filter((route) => !WITHOUT_SUCCESS.includes(route))).toEqual([]);
  });
});
