import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Dispatcher } from 'undici';
import { ApiClient, type Data, type Source } from '#test/harness/api-client.js';
import { emitterCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';

const instance = useInstance();
const { api, server } = instance;
let stranger: ApiClient;
let strangersKey: string;
let strangersWorkspace: string;
let source: Source;
let webhookId: string;
let subscriptionId: string;

beforeAll(async () => {
  await server.stop();
  const cli = join(ROOT, 'dist/apps/cli/src/main.js');
  const env = { ...server.settings, PATH: process.env.PATH };
  const added = await promisify(execFile)(process.execPath, [cli, 'user', 'bob', '--email', 'bob@example.com'], {
    env,
  });
  strangersKey = /API key[^:]*: (\S+)/.exec(added.stdout)?.[1] ?? '';
  strangersWorkspace = /\bo_\w+/.exec(added.stdout)?.[0] ?? '';
  await server.start();
  stranger = new ApiClient({
    get url() {
      return server.url;
    },
    apiKey: strangersKey,
  });
  source = await instance.deploy(emitterCode(), {}, 'Private');
  webhookId = await instance.listen(source.id);
  subscriptionId = (await api.subscribe(source.id, webhookId)).id;
  await instance.post(source, [['mine']]);
  await instance.history(source, 1);
}, 60_000);

afterAll(() => stranger.close());

describe('a user of another workspace', () => {
  it('is a different user', async () => {
    const me = await stranger.expect<Data<{ username: string; orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
    expect(me.data).toMatchObject({ username: 'bob', orgs: [{ id: strangersWorkspace }] });
  });

  // docs/reference/rest-api.md#workspace-of-resource
  it('gets 404 on every foreign id, as on one that does not exist', async () => {
    const routes: readonly (readonly [Dispatcher.HttpMethod, string])[] = [
      ['GET', `/v1/components/${source.component_id}`],
      ['GET', `/v1/sources/${source.id}`],
      ['GET', `/v1/sources/${source.name_slug}`],
      ['PUT', `/v1/sources/${source.id}`],
      ['DELETE', `/v1/sources/${source.id}`],
      ['POST', `/v1/sources/${source.id}/run`],
      ['GET', `/v1/sources/${source.id}/event_summaries`],
      ['GET', `/v1/sources/${source.id}/$errors/event_summaries`],
      ['DELETE', `/v1/sources/${source.id}/events`],
      ['GET', `/v1/webhooks/${webhookId}`],
      ['PUT', `/v1/webhooks/${webhookId}`],
      ['DELETE', `/v1/webhooks/${webhookId}`],
      ['GET', `/v1/webhooks/${webhookId}/deliveries`],
      ['POST', `/v1/webhooks/${webhookId}/regenerate_signing_key`],
      ['GET', `/v1/audit/${source.id}`],
      ['GET', `/v1/audit/${webhookId}`],
      ['GET', `/v1/audit/${subscriptionId}`],
    ];
    for (const [method, path] of routes) {
      const options = method === 'PUT' ? { body: { name: 'Taken over' } } : {};
      const reply = await stranger.call(method, path, options);
      expect({ method, path, status: reply.status }).toEqual({ method, path, status: 404 });
      expect(reply.text).not.toContain('mine');
    }
    expect(await api.getSource(source.id)).toMatchObject({ name: 'Private', active: true });
    expect((await api.summaries(source.id)).data).toHaveLength(1);
  });

  // docs/reference/rest-api.md#workspace-of-resource
  it('sees no foreign resource in lists', async () => {
    for (const path of ['sources', 'webhooks', 'subscriptions']) {
      const reply = await stranger.expect<Data<unknown[]>>(200, 'GET', `/v1/users/me/${path}`);
      expect(reply.data).toEqual([]);
    }
  });

  it('cannot subscribe to foreign resources, or send events to them', async () => {
    const own = await stranger.createWebhook(instance.receiver.url);
    const mine = await stranger.createSource({ component_code: relayCode() });
    for (const query of [
      { emitter_id: source.id, listener_id: own.id },
      { emitter_id: mine.id, listener_id: webhookId },
      { emitter_id: mine.id, listener_id: source.id },
    ]) {
      expect((await stranger.call('POST', '/v1/subscriptions', { query })).status).toBe(404);
    }
    const query = { emitter_id: source.id, listener_id: webhookId };
    expect((await stranger.call('DELETE', '/v1/subscriptions', { query })).status).toBe(404);
  });

  // docs/reference/rest-api.md#subscription-emitters
  it('reaches only their own emitters with a glob', async () => {
    const webhook = await stranger.createWebhook(instance.receiver.url);
    await stranger.subscribe('dc_*', webhook.id, 'shared-name');
    const theirs = await stranger.createSource({ component_code: emitterCode() });
    await instance.post(source, [['not for you', { name: 'shared-name' }]]);
    await instance.history(source, 1, 'shared-name');
    await instance.post(theirs, [['for you', { name: 'shared-name' }]]);
    await instance.receiver.until('their event', () => instance.arrived(webhook.id).length > 0);
    expect(instance.arrived(webhook.id)).toEqual(['for you']);
  });

  it('gets 403 when they name the workspace, and has their own component of the same code', async () => {
    const { data } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
    const workspace = data.orgs[0]?.id ?? '';
    const body = { component_code: relayCode() };
    for (const name of ['org_id', 'workspace_id']) {
      const reply = await stranger.call('POST', '/v1/sources', { query: { [name]: workspace }, body });
      expect(reply).toMatchObject({ status: 403, body: { code: 'not_a_member' } });
    }
    for (const path of [
      `/v1/workspaces/${workspace}`,
      `/v1/orgs/${workspace}/sources`,
      `/v1/workspaces/${workspace}/subscriptions`,
    ]) {
      expect((await stranger.call('GET', path)).status).toBe(403);
    }
    const code = relayCode();
    const [a, b] = [await api.createComponent(code), await stranger.createComponent(code)];
    expect(a.code_hash).toBe(b.code_hash);
    expect(a.id).not.toBe(b.id);
  });
});
