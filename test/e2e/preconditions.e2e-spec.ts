import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Source } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

interface Revised {
  readonly id: string;
  readonly revision: number;
}
const tag = (revision: number): string => `"${revision}"`;
const put = (path: string, body: object, ifMatch?: string) =>
  api.call<Data<Revised> & ErrorBody>('PUT', path, {
    body,
    headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
  });

/** A resource of each kind that has an ETag: its path, and a change. */
const KINDS: readonly (readonly [kind: string, make: () => Promise<string>, change: (n: number) => object])[] = [
  ['source', async () => `/v1/sources/${(await instance.deploy(relayCode())).id}`, (n) => ({ name: `Name ${n}` })],
  [
    'webhook',
    async () => `/v1/webhooks/${(await api.createWebhook(instance.receiver.url)).id}`,
    (n) => ({ name: `Name ${n}` }),
  ],
  [
    'account',
    async () => {
      const body = { app: 'slack', credentials: { api_key: 'k' } };
      return `/v1/accounts/${(await api.expect<Data<Revised>>(200, 'POST', '/v1/accounts', { body })).data.id}`;
    },
    (n) => ({ name: `Name ${n}` }),
  ],
  [
    'data store',
    async () => {
      const body = { name: `store-${Math.random()}` };
      return `/v1/data_stores/${(await api.expect<Data<Revised>>(200, 'POST', '/v1/data_stores', { body })).data.id}`;
    },
    (n) => ({ name: `name-${n}-${Math.random()}` }),
  ],
];

describe.each(KINDS)('a %s', (_, make, change) => {
  // docs/reference/rest-api.md#etag
  it('shows its revision as ETag, in replies to reads and changes', async () => {
    const path = await make();
    const read = await api.call<Data<Revised>>('GET', path);
    expect(read.headers['etag']).toBe(tag(read.body.data.revision));
    const changed = await put(path, change(1));
    expect(changed.status).toBe(200);
    expect(changed.body.data.revision).toBeGreaterThan(read.body.data.revision);
    expect(changed.headers['etag']).toBe(tag(changed.body.data.revision));
    const again = await api.call<Data<Revised>>('GET', path, { query: { include: 'id' } });
    expect(again.headers['etag']).toBe(changed.headers['etag']);
    expect(again.body.data).toEqual({ id: read.body.data.id });
  });

  // docs/reference/rest-api.md#if-none-match
  it('is not sent again to a reader who has it', async () => {
    const path = await make();
    const { headers } = await api.call('GET', path);
    const etag = String(headers['etag']);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await api.call('GET', path, { headers: { 'if-none-match': known } });
      expect({ known, status: reply.status, text: reply.text }).toEqual({ known, status: 304, text: '' });
      expect(reply.headers['etag']).toBe(etag);
    }
    expect((await put(path, change(2))).status).toBe(200);
    expect((await api.call('GET', path, { headers: { 'if-none-match': etag } })).status).toBe(200);
  });

  // docs/reference/rest-api.md#if-match
  it('is changed only as the caller knows it, by If-Match, and of two at once one wins', async () => {
    const path = await make();
    const { body } = await api.call<Data<Revised>>('GET', path);
    const { revision } = body.data;
    const replies = await Promise.all([1, 2, 3, 4].map((n) => put(path, change(n), tag(revision))));
    const won = replies.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const lost of replies.filter((reply) => reply !== won[0])) {
      // A source that is being changed may also answer that it is busy.
      expect([412, 409]).toContain(lost.status);
      if (lost.status === 412)
        expect(lost.body).toMatchObject({ code: 'precondition_failed', details: { expected: [revision] } });
    }
    const stale = await put(path, change(5), tag(revision));
    expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
    const now = await api.call<Data<Revised>>('GET', path);
    expect(now.body.data.revision).toBe(won[0]?.body.data.revision);
    const accepted = await put(path, change(6), `"7777", W/${tag(now.body.data.revision)}`);
    expect(accepted.status).toBe(200);
    expect((await put(path, change(7), '*')).status).toBe(200);
  });

  // docs/reference/rest-api.md#if-match
  it('is deleted only as the caller knows it', async () => {
    const path = await make();
    const { body } = await api.call<Data<Revised>>('GET', path);
    const stale = await api.call('DELETE', path, { headers: { 'if-match': '"9999"' } });
    expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
    expect((await api.call('GET', path)).status).toBe(200);
    const headers = { 'if-match': tag(body.data.revision) };
    expect((await api.call('DELETE', path, { headers })).status).toBe(204);
    expect((await put(path, change(1), tag(body.data.revision))).status).toBe(404);
  });

  it('refuses a malformed header by name', async () => {
    const path = await make();
    for (const wrong of ['3', '"3', 'nonsense', '"1","2', '']) {
      const reply = await put(path, change(1), wrong);
      expect({ wrong, status: reply.status, field: reply.body.details?.['field'] }).toEqual({
        wrong,
        status: 400,
        field: 'If-Match',
      });
    }
    const read = await api.call('GET', path, { headers: { 'if-none-match': 'x' } });
    expect(read).toMatchObject({ status: 400, body: { details: { field: 'If-None-Match' } } });
  });
});

describe('a precondition that fails', () => {
  // docs/reference/rest-api.md#if-match
  it('runs no hook, takes no name, and leaves the source as it was', async () => {
    const code = componentCode({
      members: `hooks: { async activate() { console.log('activate'); }, async deactivate() { console.log('deactivate'); } },
        run() {},`,
    });
    const source: Source = await instance.deploy(code);
    await instance.history(source, 1, '$logs');
    const before = await api.call<Data<Source>>('GET', `/v1/sources/${source.id}`);
    const refused = await put(`/v1/sources/${source.id}`, { name: 'Wanted', active: false }, '"4242"');
    expect(refused.status).toBe(412);
    const lines = (await instance.history(source, 1, '$logs')).map(({ event }) => (event as { msg?: string }).msg);
    expect(lines).not.toContain('deactivate');
    expect((await api.call<Data<Source>>('GET', `/v1/sources/${source.id}`)).body).toEqual(before.body);
    const other = await instance.deploy(relayCode(), {}, 'Wanted');
    expect(other.name_slug).toBe('wanted');
  });

  it('gives the name of a data store back', async () => {
    const make = async (name: string): Promise<Revised> =>
      (await api.expect<Data<Revised>>(200, 'POST', '/v1/data_stores', { body: { name } })).data;
    const store = await make('held');
    expect((await put(`/v1/data_stores/${store.id}`, { name: 'wanted' }, '"4242"')).status).toBe(412);
    await make('wanted');
  });
});

// docs/reference/rest-api.md#etag #if-none-match
describe('a component', () => {
  it('has an ETag that changes when it is saved again, and is not sent again to a reader who has it', async () => {
    const { id, code } = await api.createComponent(relayCode());
    const path = `/v1/components/${id}`;
    const first = await api.call<Data<Revised>>('GET', path);
    const etag = String(first.headers['etag']);
    expect(etag).toBe(tag(first.body.data.revision));
    expect(await api.call('GET', path, { headers: { 'if-none-match': etag } })).toMatchObject({
      status: 304,
      text: '',
    });
    await pause(1_100);
    const body = { component_code: code, component_url: 'https://example.com/relay.mjs' };
    const again = await api.call<Data<Revised>>('POST', '/v1/components', { body });
    expect(again.body.data.revision).toBeGreaterThan(first.body.data.revision);
    const changed = await api.call<Data<Revised>>('GET', path, { headers: { 'if-none-match': etag } });
    expect(changed).toMatchObject({ status: 200, body: { data: { id, revision: again.body.data.revision } } });
  });
});

// docs/reference/rest-api.md#if-none-match
describe('another resource under the same name', () => {
  it('is sent, although its revision is the one that the reader has', async () => {
    const name = 'Under the same name';
    const first = await instance.deploy(relayCode(), {}, name);
    const read = await api.call<Data<Source>>('GET', `/v1/sources/${first.name_slug}`);
    await api.deleteSource(first.id);
    const second = await instance.deploy(relayCode(), {}, name);
    expect(second.name_slug).toBe(first.name_slug);
    const headers = { 'if-none-match': String(read.headers['etag']) };
    const reply = await api.call<Data<Source>>('GET', `/v1/sources/${second.name_slug}`, { headers });
    expect(reply.headers['etag']).toBe(headers['if-none-match']);
    expect(reply).toMatchObject({ status: 200, body: { data: { id: second.id } } });
  });
});

// docs/reference/rest-api.md#etag #if-match
describe('a subscription', () => {
  it('shows its revision, and is deleted only as the caller knows it', async () => {
    const source = await instance.deploy(relayCode());
    const webhook = await api.createWebhook(instance.receiver.url);
    const query = { emitter_id: source.id, listener_id: webhook.id };
    const subscribe = (filter: object) =>
      api.call<Data<Revised>>('POST', '/v1/subscriptions', { query, body: { filter } });
    const first = await subscribe({ n: 1 });
    expect(first.headers['etag']).toBe(tag(first.body.data.revision));
    const changed = await subscribe({ n: 2 });
    expect(changed.body.data.revision).toBeGreaterThan(first.body.data.revision);
    const remove = (revision: number) =>
      api.call<ErrorBody>('DELETE', '/v1/subscriptions', { query, headers: { 'if-match': tag(revision) } });
    const stale = await remove(first.body.data.revision);
    expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
    const { data } = await api.expect<Data<readonly Revised[]>>(200, 'GET', '/v1/users/me/subscriptions');
    expect(data.find(({ id }) => id === first.body.data.id)?.revision).toBe(changed.body.data.revision);
    expect((await remove(changed.body.data.revision)).status).toBe(204);
  });

  it('has the revision that If-Match takes after a replay too', async () => {
    const source = await instance.deploy(relayCode());
    const webhook = await api.createWebhook(instance.receiver.url);
    const { id } = await api.subscribe(source.id, webhook.id);
    await instance.post(source, { n: 1 });
    await instance.history(source, 1);
    await api.expect(202, 'POST', `/v1/subscriptions/${id}/replay`, { body: { rate: 1 } });
    const { data } = await api.expect<Data<readonly Revised[]>>(200, 'GET', '/v1/users/me/subscriptions');
    const revision = data.find((each) => each.id === id)?.revision ?? -1;
    expect(revision).toBeGreaterThan(0);
    const query = { emitter_id: source.id, listener_id: webhook.id };
    await api.expect(204, 'DELETE', '/v1/subscriptions', { query, headers: { 'if-match': tag(revision) } });
  });
});
