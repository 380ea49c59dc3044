import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Dispatcher } from 'undici';
import {
  type ApiClient,
  type Component,
  type Data,
  type Paged,
  type Reply,
  type Source,
} from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';
import { send } from '#test/harness/http.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api } = instance;
const SECRET = 'payload-of-the-first-workspace';

interface Route {
  readonly method: Dispatcher.HttpMethod;
  /** Path with ids of the first workspace. */
  readonly path: string;
  readonly template: string;
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly unknown[] }>>>>;
}

let stranger: SecondWorkspace;
let owner: { readonly id: string; readonly workspaceId: string };
let component: Component;
let source: Source;
let eventId: string;
let webhookId: string;
let subscriptionId: string;
let deliveryId: string;
let keyId: string;
let storeId: string;
let accountId: string;
let workflowId: string;
let runId: string;
let sourceRunId: string;
let replayId: string;
let routes: readonly Route[];

beforeAll(async () => {
  stranger = await addWorkspace(instance, 'bob');
  const { data: me } = await api.expect<Data<{ id: string; orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
  owner = { id: me.id, workspaceId: me.orgs[0]?.id ?? '' };
  const members = 'run(event) { this.$emit(event.body); },';
  component = await api.createComponent(componentCode({ key: 'first-only', members }));
  source = await api.createSource({ component_id: component.id, name: 'First only' });
  webhookId = await instance.listen(source.id);
  subscriptionId = (await api.subscribe(source.id, webhookId)).id;
  keyId = (await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/api_keys', { body: { name: 'mine' } })).data.id;
  const store = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/data_stores', { body: { name: 'mine' } });
  storeId = store.data.id;
  await api.expect(200, 'PUT', `/v1/data_stores/${storeId}/records/kept`, { body: { value: SECRET } });
  const body = { app: 'shop', name: 'mine', credentials: { token: SECRET } };
  accountId = (await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/accounts', { body })).data.id;
  const variable = `/v1/workspaces/${owner.workspaceId}/variables/FIRST_ONLY`;
  await api.expect(200, 'PUT', variable, { body: { value: SECRET } });
  await api.createComponent(componentCode({ props: `shop: { type: 'app', app: 'shop' }`, members: 'run() {},' }));
  await instance.post(source, SECRET);
  await instance.receiver.until('the delivery', () => instance.arrived(webhookId).length > 0);
  eventId = (await instance.history(source, 1))[0]?.id ?? '';
  deliveryId = await eventually('the attempt among the deliveries', async () => {
    const list = await api.expect<Paged<{ id: string }>>(200, 'GET', `/v1/webhooks/${webhookId}/deliveries`);
    return list.data[0]?.id;
  });
  const sourceRuns = await api.expect<Paged<{ id: string }>>(200, 'GET', `/v1/sources/${source.id}/runs`);
  sourceRunId = sourceRuns.data[0]?.id ?? '';
  ({ workflowId, runId, replayId } = await runOfFirst());
  routes = await routesOf(api);
}, 120_000);

afterAll(() => stranger.api.close());

const runOfFirst = async () => {
  const steps = [{ namespace: 'a', code: 'export default { run() { return 1 } }' }];
  const body = { name: 'First only', triggers: [{ type: 'http' }], steps };
  const { data } = await api.expect<Data<{ id: string; triggers: { endpoint_url: string }[] }>>(
    200,
    'POST',
    '/v1/workflows',
    { body },
  );
  const { headers } = await send(data.triggers[0]?.endpoint_url ?? '', { body: { told: SECRET } });
  const id = String(headers['x-sluice-run-id']);
  await eventually('the run has ended', async () => {
    const reply = await api.call<{ data?: { state: string } }>('GET', `/v1/runs/${id}`);
    return reply.body.data?.state === 'succeeded' ? true : undefined;
  });
  const replay = { path: `/v1/workflows/${data.id}/runs/replay`, body: { run_ids: [id] } };
  const begun = await api.expect<Data<{ id: string }>>(202, 'POST', replay.path, { body: replay.body });
  return { workflowId: data.id, runId: id, replayId: begun.data.id };
};

/** Every route that needs a key, with ids of the first workspace. An unknown path parameter fails the tests. */
const routesOf = async (client: ApiClient): Promise<readonly Route[]> => {
  const { paths } = await client.expect<Description>(200, 'GET', '/v1/openapi.json');
  return Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item)
      .filter(([, { security }]) => security === undefined || security.length > 0)
      .map(([method]) => ({
        method: method.toUpperCase(),
        path: template.replace(/\{(\w+)\}/g, (_, name: string) => idFor(template, name)),
        template,
      })),
  );
};

const idFor = (template: string, name: string): string => {
  const kind = `${template.split('/')[2] ?? ''} ${name}`;
  switch (kind) {
    case 'sources id':
    case 'audit id':
      return source.id;
    case 'sources runId':
      return sourceRunId;
    case 'sources idOrSlug':
      return source.name_slug;
    case 'sources eventId':
      return eventId;
    case 'components keyOrId':
      return component.id;
    case 'components key':
      return 'first-only';
    case 'webhooks id':
      return webhookId;
    case 'webhooks deliveryId':
      return deliveryId;
    case 'data_stores id':
      return storeId;
    case 'data_stores key':
      return 'kept';
    case 'apps slug':
    case 'apps idOrSlug':
      return 'shop';
    case 'accounts id':
      return accountId;
    case 'workflows id':
      return workflowId;
    case 'workflows replayId':
      return replayId;
    case 'workflows version':
      return '1';
    case 'runs id':
      return runId;
    case 'runs namespace':
      return 'a';
    case 'api_keys id':
      return keyId;
    case 'subscriptions id':
      return subscriptionId;
    case 'workspaces name':
      return 'FIRST_ONLY';
    case 'workspaces userId':
      return owner.id;
    case 'orgs id':
    case 'orgs workspaceId':
    case 'workspaces id':
    case 'workspaces workspaceId':
      return owner.workspaceId;
    default:
      throw new Error(`${template}: say here which id of the first workspace {${name}} is, so that it is attacked`);
  }
};

/** Parameters that get every changing route past its validation, all of the first workspace. */
const foreignParameters = (): Record<string, string> => ({
  emitter_id: source.id,
  listener_id: webhookId,
  component_id: component.id,
  user_id: owner.id,
  role: 'member',
  name: 'Taken over',
  event_name: 'created',
  value: 'taken over',
});

/** The complete state that the first workspace can see. */
const stateOfFirst = async (): Promise<string> => {
  const paths = [
    '/v1/users/me/sources',
    '/v1/users/me/webhooks',
    '/v1/users/me/subscriptions',
    '/v1/api_keys',
    `/v1/components/${component.id}`,
    `/v1/sources/${source.id}/event_summaries?expand=event`,
    `/v1/sources/${source.id}/runs`,
    `/v1/webhooks/${webhookId}/deliveries`,
    `/v1/data_stores/${storeId}`,
    `/v1/data_stores/${storeId}/records`,
    `/v1/accounts/${accountId}`,
    `/v1/workspaces/${owner.workspaceId}/variables`,
    `/v1/workflows/${workflowId}`,
    `/v1/workflows/${workflowId}/runs`,
    `/v1/runs/${runId}`,
    ...[source.id, webhookId, subscriptionId, component.id].map((id) => `/v1/audit/${id}`),
  ];
  const replies: string[] = [];
  for (const path of paths) {
    const { status, text } = await api.call('GET', path);
    expect({ path, status }).toEqual({ path, status: 200 });
    replies.push(`${path} ${text}`);
  }
  return replies.join('\n');
};

/** An answer may repeat what the request names. It contains no data that only the first workspace knows. */
const mustTellNothing = (route: object, { text }: Reply): void => {
  const asked = JSON.stringify(route);
  for (const secret of [SECRET, source.name, subscriptionId, owner.id, instance.receiver.url]) {
    if (asked.includes(secret)) continue;
    expect({ ...route, told: text.includes(secret) ? secret : '' }).toMatchObject({ told: '' });
  }
};

const told = (route: object, { status, body }: Reply): object => ({
  ...route,
  status,
  code: (body as { code?: string } | undefined)?.code,
});

/** Of a stream its first lines, because what else is read at once depends on the moment. */
const compared = (text: string): string => (text.startsWith('retry: ') ? (text.split('\n\n')[0] ?? '') : text);

describe('a workspace named by the request', () => {
  // docs/reference/rest-api.md#workspace-parameter-refused
  it('is refused on every route when it does not exist: 404, and nothing changes', async () => {
    const before = await stateOfFirst();
    for (const { method, path } of routes) {
      for (const field of ['workspace_id', 'org_id']) {
        const query = { ...(method === 'GET' ? {} : foreignParameters()), [field]: 'o_of_nobody' };
        const reply = await api.call(method, path, { query });
        expect(told({ method, path, field }, reply)).toEqual({
          method,
          path,
          field,
          status: 404,
          code: 'workspace_not_found',
        });
      }
    }
    expect(await stateOfFirst()).toBe(before);
  });

  // docs/reference/rest-api.md#workspace-parameter-refused
  it('is refused on every route to non-members, in the query and in the body: 403', async () => {
    const before = await stateOfFirst();
    for (const { method, path } of routes) {
      for (const options of [
        { query: { workspace_id: stranger.workspaceId } },
        ...(method === 'GET' ? [] : [{ body: { ...foreignParameters(), org_id: stranger.workspaceId } }]),
      ]) {
        const reply = await api.call(method, path, options);
        expect(told({ method, path }, reply)).toEqual({ method, path, status: 403, code: 'not_a_member' });
      }
    }
    expect(await stateOfFirst()).toBe(before);
  });

  it("(control) does not change the answer of a read when it is the caller's own", async () => {
    for (const { method, path, template } of routes) {
      if (method !== 'GET') continue;
      const [bare, named] = [
        await api.call(method, path),
        await api.call(method, path, { query: { workspace_id: owner.workspaceId } }),
      ];
      expect({ template, status: named.status, text: compared(named.text) }).toEqual({
        template,
        status: bare.status,
        text: compared(bare.text),
      });
    }
  });

  // docs/reference/rest-api.md#workspace-parameter-refused
  it('may not be a list, an object, or two different ones', async () => {
    const own = owner.workspaceId;
    const list = '/v1/users/me/sources';
    for (const reply of [
      await api.call('GET', `${list}?workspace_id=${own}&workspace_id=${own}`),
      await api.call('GET', `${list}?workspace_id=${own}&org_id=o_other`),
      await api.call('PUT', `/v1/sources/${source.id}`, { body: { name: 'x', org_id: { id: own } } }),
      await api.call('DELETE', `/v1/sources/${source.id}?org_id=${own}`, { body: { org_id: stranger.workspaceId } }),
    ]) {
      expect({ status: reply.status, body: reply.body }).toMatchObject({
        status: 400,
        body: { code: 'invalid_parameter' },
      });
    }
    expect((await api.getSource(source.id)).name).toBe('First only');
  });
});

describe('the holder of a key of another workspace', () => {
  // docs/reference/rest-api.md#workspace-of-resource
  it('reads no data of the first workspace on any route, and changes nothing', async () => {
    const before = await stateOfFirst();
    for (const route of routes) {
      const { method, path, template } = route;
      const read = method === 'GET';
      // A deletion refuses a query with parameters that it does not have.
      const { emitter_id = '', listener_id = '', event_name = '' } = foreignParameters();
      const ofDeletion = template === '/v1/subscriptions' ? { emitter_id, listener_id, event_name } : {};
      const query = method === 'DELETE' ? ofDeletion : foreignParameters();
      for (const options of read ? [{}] : [{ query }, { body: foreignParameters() }]) {
        const reply = await stranger.api.call(method, path, options);
        const outcome = { method, template, status: reply.status };
        // A workspace reveals its existence. All other foreign ids answer like ids that do not exist.
        const ofWorkspace = /^\/v1\/(orgs|workspaces)\//.test(template);
        // Apps are names in the caller's own workspace.
        const isOwn = template === '/v1/apps/{slug}/events';
        if (template.includes('{') && !isOwn) expect(outcome).toMatchObject({ status: ofWorkspace ? 403 : 404 });
        else expect(outcome.status).toBeLessThan(500);
        if (template === '/v1/subscriptions' || template === '/v1/sources')
          expect(outcome).toMatchObject({ status: 404 });
        mustTellNothing({ ...outcome, path }, reply);
      }
    }
    expect(await stateOfFirst()).toBe(before);
  });

  it('(control) the same ids work for their owner', async () => {
    for (const { method, path, template } of routes) {
      if (method !== 'GET' || !template.includes('{') || template.includes('registry')) continue;
      expect({ path, status: (await api.call(method, path)).status }).toEqual({ path, status: 200 });
    }
  });

  it('finds nothing by code hash, key, name slug, or a cursor of a foreign list', async () => {
    for (const path of [
      `/v1/components/${component.code_hash}`,
      '/v1/components/first-only',
      `/v1/sources/${source.name_slug}`,
      `/v1/sources/${source.id}/event_summaries`,
    ]) {
      const reply = await stranger.api.call('GET', path);
      expect({ path, status: reply.status }).toEqual({ path, status: 404 });
      mustTellNothing({ path }, reply);
    }
    for (const [path, cursor] of [
      ['/v1/users/me/sources', source.id],
      ['/v1/users/me/webhooks', webhookId],
      ['/v1/api_keys', keyId],
    ] as const) {
      for (const field of ['after', 'before']) {
        const query = { [field]: Buffer.from(cursor).toString('base64') };
        const [theirs, own] = [await stranger.api.call('GET', path, { query }), await api.call('GET', path, { query })];
        // The id of a resource contains its time of creation, so it is a place in any list even if no such resource
        // exists.
        const never = `${cursor.slice(0, -1)}${cursor.endsWith('0') ? '1' : '0'}`;
        const other = await stranger.api.call('GET', path, {
          query: { [field]: Buffer.from(never).toString('base64') },
        });
        expect({ path, field, body: theirs.body }).toEqual({ path, field, body: other.body });
        mustTellNothing({ path, cursor }, theirs);
        expect({ path, field, status: own.status }).toEqual({ path, field, status: 200 });
      }
    }
    const byKey = await stranger.api.call('POST', '/v1/sources', { body: { key: 'first-only' } });
    expect(byKey.status).toBe(404);
  });

  it('cannot listen to foreign emitters or send to foreign listeners, by id, glob, workspace or user', async () => {
    const mine = (await stranger.api.createWebhook(`${instance.receiver.url}/stranger`)).id;
    const own = await stranger.api.createSource({
      component_code: componentCode({ members: 'run(event) { this.$emit(event.body); },' }),
    });
    for (const query of [
      { emitter_id: source.id, listener_id: mine },
      { emitter_id: own.id, listener_id: webhookId },
      { emitter_id: own.id, listener_id: source.id },
      { emitter_id: owner.workspaceId, listener_id: mine },
      { emitter_id: owner.id, listener_id: mine },
      { emitter_id: 'dc_*', listener_id: webhookId },
    ]) {
      const reply = await stranger.api.call('POST', '/v1/subscriptions', { query });
      expect({ query, status: reply.status }).toEqual({ query, status: 404 });
    }
    // Callers may use the glob, but it covers their own emitters only.
    await stranger.api.subscribe('dc_*', mine);
    await instance.post(source, 'again');
    await instance.receiver.until('the second event', () => instance.arrived(webhookId).length > 1);
    await instance.post(own, 'theirs');
    await instance.receiver.until('their own event', () => instance.arrived(mine).length > 0);
    expect(instance.arrived(mine)).toEqual(['theirs']);
  });
});
