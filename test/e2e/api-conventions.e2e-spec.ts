import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Paged, type Source } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

interface Resource {
  readonly id: string;
  readonly created_at: number;
  readonly updated_at: number;
}

const made = async (path: string, body: object): Promise<Resource> =>
  (await api.expect<Data<Resource>>(200, 'POST', path, { body })).data;

describe('the resources of the API', () => {
  let source: Source;
  let webhook: Resource;
  let store: Resource;
  let begun: number;
  beforeAll(async () => {
    begun = Math.floor(Date.now() / 1_000);
    source = await instance.deploy(relayCode());
    webhook = await made('/v1/webhooks', { url: 'https://example.com/hook' });
    store = await made('/v1/data_stores', { name: 'conventions' });
  }, 60_000);

  // docs/reference/rest-api.md#times
  it('have times in epoch seconds, their events in milliseconds, and their history in ISO 8601', async () => {
    const now = Math.ceil(Date.now() / 1_000);
    for (const { created_at, updated_at } of [source, webhook, store]) {
      expect(Number.isInteger(created_at) && Number.isInteger(updated_at)).toBe(true);
      expect(created_at).toBeGreaterThanOrEqual(begun);
      expect(updated_at).toBeLessThanOrEqual(now);
    }
    await instance.post(source, { n: 1 });
    const [event] = await instance.history(source, 1);
    expect(Number(event?.id.split('-')[0])).toBeGreaterThanOrEqual(begun * 1_000);
    expect(event?.indexed_at_ms).toBeGreaterThanOrEqual(begun * 1_000);
    const { data } = await api.expect<Paged<{ at: string }>>(200, 'GET', `/v1/audit/${webhook.id}`);
    expect(data[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  // docs/reference/rest-api.md#id-prefixes
  it('have ids whose prefix names their kind', async () => {
    const subscription = await api.subscribe(source.id, webhook.id);
    const auto = await made('/v1/auto_subscriptions', { event_name: '$errors', listener_id: webhook.id });
    const account = await made('/v1/accounts', { app: 'conventions', credentials: { key: 'k' } });
    const key = await made('/v1/api_keys', { name: 'conventions' });
    const run = await api.expect<Data<Resource>>(202, 'POST', `/v1/sources/${source.id}/run`, { body: {} });
    const me = await api.expect<Data<{ id: string; orgs: readonly Resource[] }>>(200, 'GET', '/v1/users/me');
    const kinds: Readonly<Record<string, string | undefined>> = {
      sc: source.component_id,
      dc: source.id,
      wh: webhook.id,
      sub: subscription.id,
      asub: auto.id,
      ds: store.id,
      apn: account.id,
      key: key.id,
      inv: run.data.id,
      u: me.data.id,
      o: me.data.orgs[0]?.id,
    };
    for (const [prefix, id] of Object.entries(kinds)) expect(id).toMatch(new RegExp(`^${prefix}_[0-9a-z]{18}$`));
    const wrong = await api.call<ErrorBody>('GET', `/v1/webhooks/${source.id}`);
    expect(wrong).toMatchObject({ status: 404, body: { error: expect.stringMatching(/source/) } });
  });

  // docs/reference/rest-api.md#data-store-fields
  it('have no other fields than the reference lists: a data store', async () => {
    expect(await api.expect(200, 'GET', `/v1/data_stores/${store.id}`)).toEqual({
      data: {
        id: store.id,
        owner_id: expect.stringMatching(/^o_/),
        name: 'conventions',
        revision: 0,
        created_at: store.created_at,
        updated_at: store.updated_at,
      },
    });
  });

  // docs/reference/rest-api.md#data-store-record-list
  it('are read to the end by pages that large values make shorter: records of a data store', async () => {
    const path = `/v1/data_stores/${store.id}/records`;
    const keys = Array.from({ length: 12 }, (_, n) => `key-${n}`);
    for (const key of keys)
      await api.expect(200, 'PUT', `${path}/${key}`, { body: { value: 'x'.repeat(200_000), ttl: null } });
    const read: string[] = [];
    const sizes: number[] = [];
    for (let after: string | undefined; ;) {
      const query = { limit: '100', ...(after === undefined ? {} : { after }) };
      const page = await api.expect<Paged<{ key: string }>>(200, 'GET', path, { query });
      if (page.data.length === 0) break;
      read.push(...page.data.map(({ key }) => key));
      sizes.push(page.data.length);
      after = String(page.page_info.end_cursor);
    }
    expect([...read].sort()).toEqual([...keys].sort());
    expect(sizes.length).toBeGreaterThan(1);
  });
});

// docs/reference/rest-api.md#routes-not-built
describe('a route of the original that is not built yet', () => {
  it.each([
    ['POST', '/v1/connect/tokens', /hosted connecting is not built yet/],
    ['POST', '/v1/oauth/token', /OAuth is not built yet/],
  ] as const)('is refused by name: %s %s', async (method, path, text) => {
    const reply = await api.call<ErrorBody>(method, path, { body: method === 'POST' ? {} : undefined });
    expect(reply).toMatchObject({ status: 404, body: { code: 'route_not_found', error: expect.stringMatching(text) } });
  });
});
