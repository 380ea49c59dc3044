import { describe, expect, it } from '@jest/globals';
import { type Data, type Paged, type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace } from '#test/harness/second-workspace.js';

const instance = useInstance();
const { api, server } = instance;

interface DataStore {
  readonly id: string;
  readonly name: string;
}
interface StoredRecord {
  readonly key: string;
  readonly value: unknown;
  readonly expires_at: number | null;
}

/** Evaluates the body of a request with `store` in scope, and answers with the result. */
const CODE = componentCode({
  props: `${CUSTOM_HTTP}, store: { type: 'data_store' }`,
  members: `
    methods: { through() { return this.store.get('method'); } },
    hooks: { async deploy() { await this.store.incr('deploys'); } },
    async run(event) {
      const act = Object.getPrototypeOf(async () => {}).constructor('store', 'self', event.body.js);
      let body;
      try { body = { ok: await act(this.store, this) }; } catch (e) { body = { name: e.name, code: e.code, message: e.message }; }
      this.http.respond({ status: 200, body });
    },`,
});
const deploy = async (store: string, code = CODE): Promise<Source & { storeId: string }> => {
  const body = { component_code: code, configured_props: { store } };
  const { data } = await api.expect<Data<Source>>(200, 'POST', '/v1/sources', { body });
  return { ...data, storeId: String(data.configured_props['store']) };
};
const act = async (source: Source, js: string): Promise<unknown> => jsonOf(await instance.post(source, { js }));
const recordOf = (storeId: string, key: string) =>
  api.call('GET', `/v1/data_stores/${storeId}/records/${encodeURIComponent(key)}`);

describe('a data store', () => {
  // docs/reference/rest-api.md#configured-data-store #data-store-records
  it('is made by its name once, shown by its id, and shared by sources, hooks, methods and the API', async () => {
    const [one, two] = await Promise.all([deploy('orders'), deploy('orders')]);
    expect(one.storeId).toMatch(/^ds_/);
    expect(two.storeId).toBe(one.storeId);
    const third = await deploy(one.storeId);
    expect(third.storeId).toBe(one.storeId);

    const written = `await store.set('a b/ü', { n: [1, new Date(0)] }); await store.set('method', 'm');
      return [await store.has('method'), await self.through(), await store.size()];`;
    expect(await act(one, written)).toEqual({ ok: [true, 'm', 3] });
    const seen = `const found = []; for await (const [key, value] of store) found.push([key, value]);
      return [found, await store.keys(), await store.entries(), await store.get('none') === undefined];`;
    const entries = [
      ['a b/ü', { n: [1, '1970-01-01T00:00:00.000Z'] }],
      ['deploys', 3],
      ['method', 'm'],
    ];
    expect(await act(two, seen)).toEqual({ ok: [entries, entries.map(([key]) => key), entries, true] });

    const record = await recordOf(one.storeId, 'a b/ü');
    expect(record.body).toEqual({
      data: { key: 'a b/ü', value: { n: [1, '1970-01-01T00:00:00.000Z'] }, expires_at: null },
    });
    const path = `/v1/data_stores/${one.storeId}/records`;
    const first = await api.expect<Paged<StoredRecord>>(200, 'GET', path, { query: { limit: '2' } });
    expect(first.page_info).toMatchObject({ total_count: 3, count: 2 });
    const query = { limit: '2', after: String(first.page_info.end_cursor) };
    const rest = await api.expect<Paged<StoredRecord>>(200, 'GET', path, { query });
    expect([...first.data, ...rest.data].map(({ key }) => key)).toEqual(entries.map(([key]) => key));

    await api.expect(200, 'PUT', `${path}/outside`, { body: { value: [1], ttl: 3600 } });
    expect(await act(one, `return store.get('outside')`)).toEqual({ ok: [1] });
    await api.expect(204, 'DELETE', `${path}/outside`);
    expect((await recordOf(one.storeId, 'outside')).status).toBe(404);
    expect(
      await act(one, `return [await store.delete('method'), await store.delete('method'), await store.has('method')]`),
    ).toEqual({ ok: [true, false, false] });
    await act(one, `await store.clear()`);
    expect(await act(two, `return store.size()`)).toEqual({ ok: 0 });
  }, 60_000);

  // docs/reference/rest-api.md#data-store-ttl
  it('forgets a record at the end of its ttl', async () => {
    const source = await deploy('ttl');
    const js = `await store.set('soon', 1, { ttl: 0.05 }); await store.set('kept', 1, { ttl: 0.05 });
      await store.setTtl('kept', null);
      while (await store.has('soon')) await new Promise((resolve) => setTimeout(resolve, 20));
      return [await store.keys(), await store.setTtl('soon', 5)];`;
    expect(await act(source, js)).toEqual({ ok: [['deploys', 'kept'], false] });
  });

  it('counts exactly in runs at once, and throttles a flood', async () => {
    const source = await deploy('counters');
    await Promise.all(Array.from({ length: 20 }, () => act(source, `return store.incr('n', 2)`)));
    expect((await recordOf(source.storeId, 'n')).body).toMatchObject({ data: { value: 40 } });
    const flood = `await Promise.all(Array.from({ length: 1000 }, (_, i) => store.set('k' + i % 100, i)));
      return store.size();`;
    expect(await act(source, flood)).toEqual({ ok: 102 });
  }, 60_000);

  it('tells the author what cannot be stored', async () => {
    const source = await deploy('errors');
    const refused = async (js: string) => act(source, `return ${js}`);
    expect(await refused(`store.set('k', () => 1)`)).toMatchObject({
      message: expect.stringMatching(/type function cannot be written as JSON/),
    });
    expect(await refused(`store.set('k', 1n)`)).toMatchObject({
      message: expect.stringMatching(/cannot be written as JSON/),
    });
    expect(await refused(`store.set('k', 'x'.repeat(300000))`)).toMatchObject({
      message: expect.stringMatching(/300002 bytes.*262144/),
    });
    expect(await refused(`store.set('', 1)`)).toMatchObject({ message: expect.stringMatching(/may not be empty/) });
    expect(await refused(`store.set('a\\ud800', 1)`)).toMatchObject({ message: expect.stringMatching(/surrogate/) });
    expect(await refused(`store.set('k', 1, { ttl: -1 })`)).toMatchObject({
      message: expect.stringMatching(/seconds above 0/),
    });
    expect(await refused(`store.set('t', 'x').then(() => store.incr('t'))`)).toMatchObject({
      name: 'DataStoreError',
      code: 'data_store.not_a_number',
    });
  });

  // docs/reference/rest-api.md#data-store-deletion
  it('keeps its records over a restart, and loses them when it is deleted', async () => {
    const source = await deploy('kept');
    await act(source, `await store.set('k', 'v')`);
    expect(await server.stop()).toBe(0);
    await server.start();
    expect(await act(source, `return store.get('k')`)).toEqual({ ok: 'v' });
    await api.expect(204, 'DELETE', `/v1/data_stores/${source.storeId}`);
    expect((await recordOf(source.storeId, 'k')).status).toBe(404);
    expect(await act(source, `return store.get('k')`)).toMatchObject({ code: 'data_store.not_found' });
    const again = await deploy('kept');
    expect(again.storeId).not.toBe(source.storeId);
    expect(await act(again, `return store.keys()`)).toEqual({ ok: ['deploys'] });
  }, 90_000);

  // docs/reference/rest-api.md#data-store-name
  it('has one name, which the API gives and changes', async () => {
    const create = (name: string) => api.call('POST', '/v1/data_stores', { body: { name } });
    const { data } = (await create('first')).body as Data<DataStore>;
    expect(data).toMatchObject({ name: 'first' });
    expect(await create('first')).toMatchObject({
      status: 409,
      body: { code: 'name_taken', details: { id: data.id } },
    });
    expect(await create('ds_abc')).toMatchObject({ status: 400, body: { code: 'invalid_name' } });
    const path = `/v1/data_stores/${data.id}`;
    await api.expect(200, 'PUT', path, { body: { name: 'second' } });
    expect((await api.call('GET', path)).body).toMatchObject({ data: { id: data.id, name: 'second' } });
    const other = ((await create('first')).body as Data<DataStore>).data;
    expect(other.id).not.toBe(data.id);
    expect((await api.call('PUT', path, { body: { name: 'first' } })).status).toBe(409);
    const list = await api.expect<Paged<DataStore>>(200, 'GET', '/v1/data_stores', { query: { limit: '1' } });
    expect(list.data.map(({ id }) => id)).toEqual([other.id]);
  });

  it('does not exist for another workspace', async () => {
    const mine = await deploy('mine');
    const second = await addWorkspace(instance, 'stranger');
    const stranger = second.api;
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/records'],
      ['GET', '/records/deploys'],
      ['PUT', '/records/deploys'],
      ['DELETE', '/records/deploys'],
    ] as const) {
      const reply = await stranger.call(method, `/v1/data_stores/${mine.storeId}${path}`, { body: { value: 1 } });
      expect([method, path, reply.status]).toEqual([method, path, 404]);
    }
    const body = { component_code: CODE, configured_props: { store: mine.storeId } };
    const reply = await stranger.call('POST', '/v1/sources', { body });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(mine.storeId);
    expect((await recordOf(mine.storeId, 'deploys')).body).toMatchObject({ data: { value: 1 } });
  });
});
