import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'undici';
import { ApiClient, type Data, type ErrorBody, type Paged } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

/** An agent got a key for tools only, and whoever controls what it reads tries the key everywhere else. */
const instance = useInstance();
const { api } = instance;

interface Key {
  readonly id: string;
  readonly key: string;
  readonly tools: readonly string[] | null;
}

const TOOLS = ['send_mail', 'slack-send'];
let agent: Key;
let client: ApiClient;
let sourceId: string;

const issue = async (body: object): Promise<Key> =>
  (await api.expect<Data<Key>>(200, 'POST', '/v1/api_keys', { body })).data;
const REFUSED = { status: 403, body: { code: 'tools_only_key' } };

/** Requests exactly the path, which a client of URLs would bring into another form. */
const raw = async (method: 'GET' | 'HEAD' | 'POST', path: string, headers: Readonly<Record<string, string>> = {}) => {
  const connection = new Client(instance.server.url);
  try {
    const authorization = `Bearer ${agent.key}`;
    const { statusCode, body } = await connection.request({ method, path, headers: { authorization, ...headers } });
    return { status: statusCode, text: await body.text() };
  } finally {
    await connection.close();
  }
};

beforeAll(async () => {
  agent = await issue({ name: 'agent', tools: TOOLS });
  client = new ApiClient({
    get url() {
      return instance.server.url;
    },
    apiKey: agent.key,
  });
  sourceId = (await instance.deploy(relayCode())).id;
}, 120_000);
afterAll(() => client.close());

// docs/reference/rest-api.md#api-key-tools
describe('a key for tools only', () => {
  it('makes no key, neither for more tools nor for everything, and revokes none', async () => {
    const { data: keys } = await api.expect<Paged<Key>>(200, 'GET', '/v1/api_keys');
    for (const body of [{}, { tools: TOOLS }, { tools: null }, { tools: [...TOOLS, 'more'] }, { read_only: true }])
      expect(await client.call('POST', '/v1/api_keys', { body })).toMatchObject(REFUSED);
    for (const { id } of keys) expect(await client.call('DELETE', `/v1/api_keys/${id}`)).toMatchObject(REFUSED);
    expect((await api.expect<Paged<Key>>(200, 'GET', '/v1/api_keys')).data).toEqual(keys);
  });

  it('is not widened: no route changes a key', async () => {
    for (const method of ['PUT', 'PATCH', 'POST'] as const) {
      const { status } = await api.call(method, `/v1/api_keys/${agent.id}`, { body: { tools: null } });
      expect([404, 405]).toContain(status);
    }
    const { data } = await api.expect<Paged<Key>>(200, 'GET', '/v1/api_keys');
    expect(data.find(({ id }) => id === agent.id)?.tools).toEqual(TOOLS);
  });

  it('opens no stream, in the header or in the query, at any address of streams', async () => {
    for (const path of [
      `/v1/sources/${sourceId}/sse`,
      `/sources/${sourceId}/sse`,
      `/sse/dc/${sourceId}/emits`,
      `/v1/sse/dc/${sourceId}/observations`,
      `/pipelines/p_0k2f9x8a1b3c5d7e9f/sse`,
      `/v1/pipelines/p_0k2f9x8a1b3c5d7e9f/sse`,
      `/workflows/p_0k2f9x8a1b3c5d7e9f/sse`,
      `/v1/workflows/p_0k2f9x8a1b3c5d7e9f/runs/sse`,
    ]) {
      const query = { access_token: agent.key };
      expect({ path, ...(await client.call('GET', path)) }).toMatchObject({ path, ...REFUSED });
      expect({ path, ...(await client.call('GET', path, { query, key: null })) }).toMatchObject({ path, ...REFUSED });
    }
  });

  it.each([
    ['GET', '/v1/users/me/'],
    ['GET', '/v1/users/me&include=id'],
    ['GET', '/v1/%75sers/me'],
    ['HEAD', '/v1/users/me'],
    ['GET', '/v1/users/me?include=id'],
    ['GET', '/v1/users/me?x=/mcp'],
    ['POST', '/v1/webhooks?url=https://example.com/'],
  ] as const)('is refused by %s %s', async (method, path) => {
    expect((await raw(method, path)).status).toBe(403);
  });

  it.each(['//v1/users/me', '/V1/users/me', '/mcp/../v1/users/me', '/v1/users/me%00', '/v1/./users/me'])(
    'gets nothing at %s',
    async (path) => {
      const { status } = await raw('GET', path);
      expect([400, 403, 404]).toContain(status);
    },
  );

  it('is refused whatever method or path the headers claim', async () => {
    const headers = {
      'x-http-method-override': 'GET',
      'x-original-url': '/mcp',
      'x-rewrite-url': '/mcp',
      'x-forwarded-prefix': '/mcp',
    };
    expect((await raw('POST', '/v1/webhooks?url=https://example.com/', headers)).status).toBe(403);
  });

  it('learns nothing of other workspaces, as it is refused before they are looked up', async () => {
    for (const query of [{ workspace_id: 'o_nope' }, { org_id: 'o_0k2f9x8a1b3c5d7e9f' }])
      expect(await client.call('GET', '/v1/users/me', { query })).toMatchObject(REFUSED);
  });

  it('gets no reply that is kept for another key of its user', async () => {
    const headers = { 'Idempotency-Key': `kept-${process.pid}` };
    const body = { url: instance.receiver.url, name: 'kept' };
    await api.expect(200, 'POST', '/v1/webhooks', { body, headers });
    const repeat = await client.call<ErrorBody>('POST', '/v1/webhooks', { body, headers });
    expect(repeat).toMatchObject(REFUSED);
    expect(repeat.text).not.toContain('kept');
    const mine = { 'Idempotency-Key': `mine-${process.pid}` };
    expect(await client.call('POST', '/v1/webhooks', { body, headers: mine })).toMatchObject(REFUSED);
    // The refusal is not kept for the right key either.
    await api.expect(200, 'POST', '/v1/webhooks', { body, headers: mine });
  });

  it('gets no 304 for what it has a revision of', async () => {
    const { headers } = await api.call('GET', `/v1/sources/${sourceId}`);
    const etag = String(headers['etag']);
    const reply = await client.call('GET', `/v1/sources/${sourceId}`, { headers: { 'If-None-Match': etag } });
    expect(reply).toMatchObject(REFUSED);
  });

  it('changes nothing at an endpoint, which reads no API key', async () => {
    const source = await instance.deploy(
      componentCode({
        props: CUSTOM_HTTP,
        members: 'run(event) { this.http.respond({ status: 200, body: String(event.headers.authorization) }) },',
      }),
    );
    const reply = await instance.post(source, {}, { authorization: `Bearer ${agent.key}` });
    expect(reply.status).toBe(200);
  });

  it('shows in the history with its tools, and without its hash', async () => {
    const { data } = await api.expect<Data<{ id: string }[]>>(200, 'GET', '/v1/users/me/workspaces');
    const audit = await api.call('GET', `/v1/workspaces/${data[0]?.id ?? ''}/audit`, { query: { limit: '100' } });
    expect(audit.text).toContain('ToolsKeyIssued');
    expect(audit.text).not.toContain(agent.key);
    const own = await api.call<Paged<{ data: object }>>('GET', `/v1/audit/${agent.id}`);
    expect(own.body.data[0]?.data).toMatchObject({ tools: TOOLS, keyHash: '********' });
  });

  it('is unknown once it is revoked, and stays for tools only when the server starts again', async () => {
    const other = await issue({ tools: ['x'] });
    await api.expect(204, 'DELETE', `/v1/api_keys/${other.id}`);
    expect((await api.call('GET', '/v1/users/me', { key: other.key })).status).toBe(401);
    await instance.server.stop();
    await instance.server.restart();
    expect((await api.call('GET', '/v1/users/me', { key: other.key })).status).toBe(401);
    expect(await client.call('GET', '/v1/users/me')).toMatchObject(REFUSED);
  }, 60_000);
});
