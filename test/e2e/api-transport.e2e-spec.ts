import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Dispatcher } from 'undici';
import { type Data, type ErrorBody, type Paged, type Source, type Subscription } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

/** Each request names an address of its own, because wrong keys are counted by address. */
const instance = useInstance({ env: { SLUICE_TRUSTED_PROXIES: '127.0.0.1/32', SLUICE_METRICS: 'open' } });
const { api } = instance;
let source: Source;
let webhookId: string;

beforeAll(async () => {
  source = await instance.deploy(relayCode('Transport'));
  webhookId = (await api.createWebhook(instance.receiver.url)).id;
}, 30_000);

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly unknown[] }>>>>;
}

/** Every route of the API that needs a key, as the server describes itself, with ids that exist. */
const routes = async (): Promise<readonly (readonly [Dispatcher.HttpMethod, string])[]> => {
  const { paths } = await api.expect<Description>(200, 'GET', '/v1/openapi.json');
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { security }]) => security?.length !== 0)
      .map(([method]) => {
        const id = path.startsWith('/v1/webhooks') ? webhookId : source.id;
        return [method.toUpperCase(), path.replace(/\{\w+\}/g, id)] as const;
      }),
  );
};

const expectError = (body: unknown, code?: string): void => {
  expect(body).toMatchObject({ error: expect.any(String), code: code ?? expect.stringMatching(/^[a-z][a-z_]+$/) });
};

describe('authentication', () => {
  const keys: readonly (readonly [string, Record<string, string>])[] = [
    ['no key', {}],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['an unknown key', { authorization: 'Bearer nobody_has_this_key' }],
    ['an empty key', { authorization: 'Bearer ' }],
  ];

  // docs/reference/rest-api.md#authentication
  it.each(keys)('answers 401 on every route with %s', async (_name, headers) => {
    const known = await routes();
    expect(known).toContainEqual(['DELETE', `/v1/sources/${source.id}`]);
    expect(known.length).toBeGreaterThan(25);
    for (const [index, [method, path]] of known.entries()) {
      const from = { 'x-forwarded-for': `192.0.2.${index}` };
      const reply = await api.call(method, path, { key: null, headers: { ...headers, ...from } });
      expect({ method, path, status: reply.status }).toEqual({ method, path, status: 401 });
      expect(reply.headers['www-authenticate']).toMatch(/^Bearer/);
      expectError(reply.body, 'unauthorized');
    }
  });

  it('changes nothing for a caller without a key', async () => {
    expect((await api.getSource(source.id)).id).toBe(source.id);
  });

  // docs/reference/rest-api.md#healthz #readyz #metrics
  it('serves health, readiness and metrics without one', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await api.call('GET', path, { key: null })).status).toBe(200);
    }
    expect((await api.call('GET', '/metrics', { key: null })).text).toMatch(/^# (HELP|TYPE) /m);
  });
});

describe('paths', () => {
  // docs/reference/rest-api.md#url-forms
  it('takes a trailing slash on any route and method, without a redirect', async () => {
    for (const path of ['/users/me', '/users/me/sources', '/users/me/subscriptions', '/users/me/webhooks']) {
      expect((await api.call('GET', `/v1${path}/`)).status).toBe(200);
    }
    expect((await api.call('GET', `/v1/sources/${source.id}///`)).status).toBe(200);
    const made = await api.call<Data<Source>>('POST', '/v1/sources/', { body: { component_id: source.component_id } });
    expect(made.status).toBe(200);
    expect((await api.call('PUT', `/v1/sources/${made.body.data.id}/`, { body: { name: 'Slashed' } })).status).toBe(
      200,
    );
    expect((await api.call('DELETE', `/v1/sources/${made.body.data.id}/`)).status).toBe(204);
  });

  // docs/reference/rest-api.md#url-forms
  it('reads the misprint &expand=event of the documentation as a query', async () => {
    expect((await instance.post(source, { long: 'x'.repeat(2_000) })).status).toBe(200);
    const [event] = await instance.history(source, 1);
    const path = `/v1/sources/${source.id}/event_summaries`;
    const misprinted = await api.expect<Paged<unknown>>(200, 'GET', `${path}&expand=event`);
    expect(misprinted.data).toEqual([event]);
    const limited = await api.expect<Paged<unknown>>(200, 'GET', `${path}/&expand=event&limit=1`);
    expect(limited.data).toHaveLength(1);
  });

  // docs/reference/rest-api.md#url-forms
  it('decodes the segments of a path', async () => {
    const plain = await api.call('GET', `/v1/sources/${source.id}/$errors/event_summaries`);
    const encoded = await api.call('GET', `/v1/sources/${source.id}/%24errors/event_summaries`);
    expect(plain.status).toBe(200);
    expect(encoded).toMatchObject({ status: 200, text: plain.text });
  });

  // docs/reference/rest-api.md#base-path #unknown-route
  it.each(['/v1/nothing', '/', '/v1/users/you', '/v2/users/me', '/v1/sources/x/y/z'])(
    'answers 404 on %s',
    async (path) => {
      const reply = await api.call('GET', path);
      expect(reply.status).toBe(404);
      expectError(reply.body, 'route_not_found');
    },
  );

  it('answers 405 with Allow on a known path with another method', async () => {
    for (const [path, allowed] of [
      ['/v1/components', ['POST']],
      ['/v1/users/me', ['GET']],
      [`/v1/sources/${source.id}`, ['GET', 'PUT', 'DELETE']],
      ['/v1/subscriptions', ['POST', 'DELETE']],
    ] as const) {
      const reply = await api.call('PATCH', path, { body: {} });
      expect({ path, status: reply.status }).toEqual({ path, status: 405 });
      const allow = String(reply.headers.allow).split(/, */);
      expect(allow).toEqual(expect.arrayContaining([...allowed]));
      expect(allow).not.toContain('PATCH');
      expectError(reply.body, 'method_not_allowed');
    }
  });
});

describe('bodies', () => {
  // docs/reference/rest-api.md#empty-body
  it('reads an empty body with a JSON content type as {}', async () => {
    const headers = { 'content-type': 'application/json' };
    const query = { emitter_id: source.id, listener_id: webhookId };
    expect((await api.call('POST', '/v1/subscriptions', { query, headers })).status).toBe(200);
    expect((await api.call('POST', '/v1/webhooks', { query: { url: instance.receiver.url }, headers })).status).toBe(
      200,
    );
    expect((await api.call('DELETE', '/v1/subscriptions', { query, headers })).status).toBe(204);
    expect((await api.call('POST', '/v1/components', { headers })).status).toBe(400);
  });

  // docs/reference/rest-api.md#json-body
  it('names the fault in malformed JSON', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const body of ['{"component_code": ', 'nonsense', '[1,2]', '"text"']) {
      const reply = await api.call('POST', '/v1/components', { body, headers });
      expect({ body, status: reply.status }).toEqual({ body, status: 400 });
      expectError(reply.body, 'invalid_json');
    }
  });

  // docs/reference/rest-api.md#body-formats
  it('answers 415 on a body that is neither JSON nor a form', async () => {
    for (const type of ['text/plain', 'application/xml']) {
      const reply = await api.call('POST', '/v1/components', {
        body: 'component_code',
        headers: { 'content-type': type },
      });
      expect(reply.status).toBe(415);
      expectError(reply.body, 'unsupported_media_type');
      expect((reply.body as ErrorBody).error).toContain(type);
    }
  });

  // docs/reference/rest-api.md#body-formats
  it('reads form bodies', async () => {
    const reply = await api.call<Data<{ name: string }>>('POST', '/v1/components', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ component_code: relayCode('From a form') }).toString(),
    });
    expect(reply).toMatchObject({ status: 200, body: { data: { name: 'From a form' } } });
  });

  it('answers 413 with the limit and the actual size', async () => {
    const code = `// ${'x'.repeat(1_100_000)}\n${relayCode()}`;
    const reply = await api.call('POST', '/v1/components', { body: { component_code: code } });
    expect(reply.status).toBe(413);
    expectError(reply.body);
    const { error, details } = reply.body as ErrorBody;
    expect(details).toMatchObject({ limit: expect.any(Number), actual: expect.any(Number) });
    expect(error).toContain(String(details?.limit));
    expect(error).toContain(String(details?.actual));
  });
});

describe('parameters', () => {
  // docs/reference/rest-api.md#parameter-places
  it('takes those of a subscription from the query or the body, and the query wins', async () => {
    const body = { emitter_id: source.id, listener_id: webhookId, event_name: 'from-body' };
    const fromBody = await api.expect<Data<Subscription>>(200, 'POST', '/v1/subscriptions', { body });
    expect(fromBody.data).toMatchObject(body);
    const query = { event_name: 'from-query' };
    const mixed = await api.expect<Data<Subscription>>(200, 'POST', '/v1/subscriptions', { body, query });
    expect(mixed.data).toMatchObject({ ...body, event_name: 'from-query' });
  });

  // docs/reference/rest-api.md#parameter-places
  it('takes those of a source from the query or the body, and the body wins', async () => {
    const query = { component_id: source.component_id, name: 'From query' };
    const fromQuery = await api.expect<Data<Source>>(200, 'POST', '/v1/sources', { query });
    expect(fromQuery.data.name).toBe('From query');
    const mixed = await api.expect<Data<Source>>(200, 'POST', '/v1/sources', { query, body: { name: 'From body' } });
    expect(mixed.data.name).toBe('From body');
  });

  // docs/reference/rest-api.md#include-exclude
  it('selects fields by include and exclude, in lists, single objects and replies of a POST', async () => {
    const list = await api.expect<Paged<object>>(200, 'GET', '/v1/users/me/sources', {
      query: { include: 'id, name,unknown' },
    });
    expect(list.page_info.total_count).toBeGreaterThan(0);
    for (const item of list.data) expect(Object.keys(item).sort()).toEqual(['id', 'name']);
    const one = await api.expect<Data<object>>(200, 'GET', `/v1/sources/${source.id}`, {
      query: { exclude: 'configured_props' },
    });
    expect(one.data).toHaveProperty('id', source.id);
    expect(one.data).not.toHaveProperty('configured_props');
    const both = await api.expect<Data<object>>(200, 'GET', `/v1/sources/${source.id}`, {
      query: { include: 'id,name', exclude: 'name' },
    });
    expect(both.data).toEqual({ id: source.id });
    const body = { component_id: source.component_id, include: 'id' };
    const made = await api.expect<Data<object>>(200, 'POST', '/v1/sources', { body });
    expect(Object.keys(made.data)).toEqual(['id']);
  });

  // docs/reference/rest-api.md#workspace-parameter #workspace-parameter-refused
  it('takes a workspace under either name, and refuses an unknown one', async () => {
    const { data: user } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
    const own = user.orgs[0]?.id ?? '';
    expect(own).toMatch(/^o_/);
    const body = { component_id: source.component_id };
    for (const query of [{ org_id: own }, { workspace_id: own }]) {
      expect((await api.call('POST', '/v1/sources', { query, body })).status).toBe(200);
    }
    const reply = await api.call('POST', '/v1/sources', { query: { org_id: 'o_doesnotexist' }, body });
    expect(reply.status).toBe(404);
    expectError(reply.body, 'workspace_not_found');
    expect((reply.body as ErrorBody).error).toContain('o_doesnotexist');
  });
});

describe('correlation and privacy', () => {
  // docs/reference/rest-api.md#request-id
  it('sends a request id, and echoes a well-formed one', async () => {
    expect((await api.call('GET', '/v1/users/me')).headers['x-request-id']).toMatch(/.{8,}/);
    const echoed = await api.call('GET', '/v1/users/me', { headers: { 'x-request-id': 'req-12345678-abcd' } });
    expect(echoed.headers['x-request-id']).toBe('req-12345678-abcd');
    const bad = await api.call('GET', '/v1/users/me', { headers: { 'x-request-id': 'a b<script>' } });
    expect(bad.headers['x-request-id']).not.toContain('<');
  });

  // docs/reference/rest-api.md#user-fields
  it('answers the user with quotas and workspaces', async () => {
    const { data } = await api.expect<Data<Record<string, unknown>>>(200, 'GET', '/v1/users/me');
    expect(data).toMatchObject({
      id: expect.stringMatching(/^u_/),
      username: expect.any(String),
      email: expect.any(String),
      daily_compute_time_quota: expect.any(Number),
      daily_compute_time_used: expect.any(Number),
      daily_invocations_quota: expect.any(Number),
      daily_invocations_used: expect.any(Number),
      orgs: [
        {
          id: expect.stringMatching(/^o_/),
          orgname: expect.any(String),
          name: expect.any(String),
          email: expect.any(String),
        },
      ],
    });
  });
});
