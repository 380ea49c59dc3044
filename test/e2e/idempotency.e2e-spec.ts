import { describe, expect, it } from '@jest/globals';
import { ApiContract, type ContractCall } from '#test/harness/api-contract.js';
import { type CallOptions, type Data, type ErrorBody, type Reply } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;
let keys = 0;
const newKey = (): string => `key-${++keys}-${process.pid}`;

const post = <T>(key: string, path: string, options: CallOptions = {}): Promise<Reply<Data<T> & ErrorBody>> =>
  api.call('POST', path, { ...options, headers: { 'idempotency-key': key } });
const idsOf = async (path: string): Promise<readonly string[]> =>
  (await api.expect<Data<{ id: string }[]>>(200, 'GET', path, { query: { limit: '100' } })).data.map(({ id }) => id);

// docs/reference/rest-api.md#idempotency-key
describe('a POST with an Idempotency-Key', () => {
  // docs/reference/rest-api.md#idempotency-key
  it('makes one resource, however often it is repeated, and repeats its reply', async () => {
    const key = newKey();
    const body = { component_code: relayCode(), name: 'Once' };
    const first = await post<{ id: string }>(key, '/v1/sources', { body });
    expect(first.status).toBe(200);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    const again = await post<{ id: string }>(key, '/v1/sources', { body });
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });
    expect(again.body).toEqual(first.body);
    const sources = await idsOf('/v1/users/me/sources');
    expect(sources.filter((id) => id === first.body.data.id)).toHaveLength(1);
    const other = await post<{ id: string }>(newKey(), '/v1/sources', { body });
    expect(other.body.data.id).not.toBe(first.body.data.id);
  });

  // docs/reference/rest-api.md#idempotency-key
  it('makes one resource when it is sent many times at once', async () => {
    const key = newKey();
    const before = await idsOf('/v1/users/me/webhooks');
    const query = { url: instance.receiver.url };
    const replies = await Promise.all(Array.from({ length: 12 }, () => post(key, '/v1/webhooks', { query })));
    for (const { status, body, headers } of replies) {
      if (status === 200) continue;
      expect({ status, code: body.code }).toEqual({ status: 409, code: 'request_in_progress' });
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(await idsOf('/v1/users/me/webhooks')).toHaveLength(before.length + 1);
  });

  it('shows a secret once only', async () => {
    const key = newKey();
    const query = { url: instance.receiver.url };
    const first = await post<{ id: string; signing_key?: string }>(key, '/v1/webhooks', { query });
    const again = await post<{ id: string; signing_key?: string }>(key, '/v1/webhooks', { query });
    expect(first.body.data.signing_key).toMatch(/^whsec_/);
    expect(again.body.data).toEqual({ ...first.body.data, signing_key: undefined });
    const issued = await post<{ id: string; key?: string }>(newKey(), '/v1/api_keys', { body: {} });
    const repeated = await post<{ id: string; key?: string }>(`key-${keys}-${process.pid}`, '/v1/api_keys', {
      body: {},
    });
    expect(repeated.body.data.id).toBe(issued.body.data.id);
    expect(repeated.text).not.toContain(issued.body.data.key ?? '?');
    const component = await post<{ key: string }>(newKey(), '/v1/components', {
      body: { component_code: relayCode() },
    });
    expect(component.body.data.key).toMatch(/^test-/);
  });

  // docs/reference/rest-api.md#idempotency-key
  it('gets replies that the OpenAPI document describes, with the secret and without', async () => {
    const contract = await ApiContract.of(api);
    const twice = async (route: string, options: ContractCall): Promise<void> => {
      const headers = { 'idempotency-key': newKey() };
      await contract.expect(200, route, { ...options, headers });
      await contract.expect(200, route, { ...options, headers });
    };
    const { id } = await api.createWebhook(instance.receiver.url);
    await twice('POST /v1/webhooks', { query: { url: instance.receiver.url } });
    await twice('POST /v1/webhooks/{id}/regenerate_signing_key', { path: { id } });
    await twice('POST /v1/api_keys', { body: {} });
  });

  // docs/reference/rest-api.md#idempotency-key
  it('is refused with another body, query or path', async () => {
    const key = newKey();
    const path = '/v1/webhooks';
    expect((await post(key, path, { query: { url: instance.receiver.url } })).status).toBe(200);
    for (const options of [
      { query: { url: `${instance.receiver.url}/x` } },
      { body: { url: instance.receiver.url } },
    ]) {
      expect(await post(key, path, options)).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
    }
    // Another route has keys of its own.
    expect((await post(key, '/v1/data_stores', { body: { name: `n-${key}` } })).status).toBe(200);
  });

  it('runs again after it was refused', async () => {
    const key = newKey();
    const name = `wanted-${key}`;
    const taken = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/data_stores', { body: { name } });
    const refused = await post(key, '/v1/data_stores', { body: { name } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'name_taken' } });
    await api.expect(204, 'DELETE', `/v1/data_stores/${taken.data.id}`);
    expect((await post(key, '/v1/data_stores', { body: { name } })).status).toBe(200);
  });

  // docs/reference/rest-api.md#idempotency-key
  it('survives a restart of the server', async () => {
    const key = newKey();
    const body = { name: `kept-${key}` };
    const first = await post(key, '/v1/data_stores', { body });
    await instance.server.restart();
    const again = await post(key, '/v1/data_stores', { body });
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });
    expect(again.body).toEqual(first.body);
  }, 90_000);

  it('runs a source once', async () => {
    const key = newKey();
    const source = await instance.deploy(relayCode());
    const query = { wait: 'true' };
    const body = { event: { body: { ran: true } } };
    const path = `/v1/sources/${source.id}/run`;
    const replies = [await post(key, path, { query, body }), await post(key, path, { query, body })];
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(replies[1]?.text).toBe(replies[0]?.text);
    expect(await instance.payloads(source, 1)).toEqual([{ ran: true }]);
  });

  it.each([
    ['x'.repeat(256), 256],
    ['a b', 3],
  ])('with a malformed key is refused: %s', async (key, actual) => {
    const reply = await post(key, '/v1/data_stores', { body: { name: 'never' } });
    expect(reply).toMatchObject({ status: 400, body: { details: { field: 'Idempotency-Key', limit: 255, actual } } });
  });

  it('does nothing on other methods', async () => {
    const source = await instance.deploy(relayCode());
    const headers = { 'idempotency-key': newKey() };
    for (const name of ['One', 'Two']) {
      const reply = await api.call<Data<{ name: string }>>('PUT', `/v1/sources/${source.id}`, {
        headers,
        body: { name },
      });
      expect(reply.body.data.name).toBe(name);
    }
  });
});
