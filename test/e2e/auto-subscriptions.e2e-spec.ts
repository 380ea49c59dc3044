import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Subscription } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;
const ROUTE = '/v1/auto_subscriptions';

interface AutoSubscription {
  readonly id: string;
  readonly event_name: string;
  readonly listener_id: string;
}
const create = async (event_name: string, listener_id: string): Promise<AutoSubscription> =>
  (await api.expect<Data<AutoSubscription>>(200, 'POST', ROUTE, { query: { event_name, listener_id } })).data;
const remove = (event_name: string, listener_id: string) =>
  api.call<ErrorBody>('DELETE', ROUTE, { query: { event_name, listener_id } });
const listed = async (): Promise<readonly AutoSubscription[]> =>
  (await api.expect<Data<AutoSubscription[]>>(200, 'GET', '/v1/users/me/auto_subscriptions')).data;
const subscriptionsOf = async (emitterId: string): Promise<readonly Subscription[]> =>
  (await api.expect<Data<Subscription[]>>(200, 'GET', '/v1/users/me/subscriptions')).data.filter(
    ({ emitter_id }) => emitter_id === emitterId,
  );
const webhook = async (): Promise<string> =>
  (await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/webhooks', { query: { url: instance.receiver.url } })).data
    .id;
const FAILS = componentCode({
  props: `http: '$.interface.http'`,
  members: `run() { throw new Error('asked to fail'); },`,
});

// docs/reference/rest-api.md#auto-subscriptions
describe('an auto-subscription', () => {
  let listener: string;
  beforeAll(async () => {
    listener = await webhook();
  }, 60_000);

  // docs/reference/rest-api.md#auto-subscriptions
  it('subscribes its listener to each later source, and to none before', async () => {
    const before = await instance.deploy(FAILS);
    const made = await create('$errors', listener);
    expect(made).toEqual({ id: expect.stringMatching(/^asub_/), event_name: '$errors', listener_id: listener });
    const after = await instance.deploy(FAILS);
    expect(await subscriptionsOf(before.id)).toEqual([]);
    const id: unknown = expect.stringMatching(/^sub_/);
    expect(await subscriptionsOf(after.id)).toEqual([
      { id, emitter_id: after.id, listener_id: listener, event_name: '$errors', revision: 0 },
    ]);
    await instance.post(after, {});
    const isOurs = (body: unknown): boolean =>
      (body as { original_context?: { source_id?: string } }).original_context?.source_id === after.id;
    await instance.receiver.until('the error', () => instance.receiver.received.some(({ body }) => isOurs(body)));
    expect((await remove('$errors', listener)).status).toBe(204);
  });

  it('is one, however often and by however many it is made', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => create('$logs', listener)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect((await listed()).filter(({ listener_id }) => listener_id === listener)).toEqual([made[0]]);
    expect((await remove('$logs', listener)).status).toBe(204);
  });

  // docs/reference/rest-api.md#auto-subscription-delete #auto-subscription-made
  it('makes nothing any more once it is deleted, and what it made stays', async () => {
    await create('$logs', listener);
    const source = await instance.deploy(relayCode());
    expect((await remove('$logs', listener)).status).toBe(204);
    expect(await subscriptionsOf(source.id)).toHaveLength(1);
    expect(await subscriptionsOf((await instance.deploy(relayCode())).id)).toEqual([]);
    expect(await remove('$logs', listener)).toMatchObject({
      status: 404,
      body: { code: 'auto_subscription_not_found' },
    });
  });

  // docs/reference/rest-api.md#subscription-cleanup
  it('goes with its listener', async () => {
    const gone = await webhook();
    await create('$errors', gone);
    expect((await api.call('DELETE', `/v1/webhooks/${gone}`)).status).toBe(204);
    expect((await listed()).filter(({ listener_id }) => listener_id === gone)).toEqual([]);
    expect(await subscriptionsOf((await instance.deploy(relayCode())).id)).toEqual([]);
  });

  it('leaves nothing behind when a deployment fails', async () => {
    await create('$errors', listener);
    const code = componentCode({
      members: `hooks: { deploy() { throw new Error('no'); } }, run() {},`,
      props: `db: '$.service.db', timer: { type: '$.interface.timer', static: { intervalSeconds: 3600 } }`,
    });
    const refused = await api.call('POST', '/v1/sources', { body: { component_code: code } });
    expect(refused.status).toBe(422);
    const { data } = await api.expect<Data<Subscription[]>>(200, 'GET', '/v1/users/me/subscriptions');
    const sources = await api.expect<Data<{ id: string }[]>>(200, 'GET', '/v1/users/me/sources', {
      query: { limit: '100' },
    });
    const exist = new Set(sources.data.map(({ id }) => id));
    expect(data.filter(({ emitter_id }) => !exist.has(emitter_id))).toEqual([]);
    expect((await remove('$errors', listener)).status).toBe(204);
  });

  it.each([
    [{ event_name: '', listener_id: 'wh_1' }, 400, 'invalid_event_name'],
    [{ listener_id: 'wh_1' }, 400, 'invalid_event_name'],
    [{ event_name: 'mine', listener_id: 'wh_1' }, 400, 'invalid_event_name'],
    [{ event_name: '$errors' }, 400, 'missing_parameter'],
    [{ event_name: '$errors', listener_id: 'dc_*' }, 400, 'invalid_listener'],
    [{ event_name: '$errors', listener_id: 'wh_none' }, 404, 'listener_not_found'],
    [{ event_name: '$errors', listener_id: 'p_none' }, 404, 'listener_not_found'],
  ])('is refused: %j', async (query, status, code) => {
    expect(await api.call('POST', ROUTE, { query })).toMatchObject({ status, body: { code } });
  });
});

// docs/reference/rest-api.md#limits-list
describe('GET /v1/limits', () => {
  // docs/reference/rest-api.md#limits-list
  it('lists what the operator can set, with the values in force', async () => {
    const { data } = await api.expect<Data<{ setting: string; value: number | null }[]>>(200, 'GET', '/v1/limits');
    expect(data).toContainEqual({
      setting: 'SLUICE_MAX_SOURCES',
      value: 10_000,
      allowed: expect.stringContaining('sources'),
      meaning: expect.any(String),
    });
    expect(data.filter(({ value }) => value === null).map(({ setting }) => setting)).toEqual(['SLUICE_RUN_TIMEOUT_S']);
  });
});
