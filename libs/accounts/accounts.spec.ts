import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { type Caller } from '#libs/http/callers.js';
import { type ConfigureHttpOptions } from '#libs/http/configure-http.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { dataOf, itemsOf } from '#libs/http/testing/replies.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { accountAuths, AccountCleanUpReactor, accountsContext, AccountsModule, AccountsView } from './index.js';
import { ACCOUNT_LIMITS } from './limits.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** For accounts that are never refreshed. */
const STATIC = { freshen: () => undefined };

const caller = (userId: string, ...workspaceIds: string[]): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds,
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
});

const world = async () => {
  const view = new AccountsView();
  const plane = await ControlPlane.start({
    projections: accountsContext.projections,
    views: [view],
    reactors: ({ events, vault }) => [new AccountCleanUpReactor({ events, vault })],
  });
  closing.push(() => plane.stop());
  const resourceLimits = { ...ACCOUNT_LIMITS, accountsPerWorkspace: 3 };
  const serving = async (configure: Partial<ConfigureHttpOptions> = {}) => {
    const app = await httpTestApp({
      imports: [AccountsModule.forRoot({ ...plane.ports(), resourceLimits, allowedEnv: ['TOKEN'] })],
      http: plane.ports(),
      callers: { one: caller('u_1', 'o_1'), other: caller('u_2', 'o_2'), colleague: caller('u_3', 'o_1') },
      configure,
    });
    closing.unshift(() => app.close());
    return (method: 'get' | 'post' | 'put' | 'delete', path: string, key = 'one') =>
      request(app.getHttpServer())[method](path).set('Authorization', `Bearer ${key}`);
  };
  const call = await serving();
  const connect = async (credentials: object = { api_key: 'k' }, app = 'slack'): Promise<string> =>
    dataOf(await call('post', '/v1/accounts').send({ app, credentials }))['id'] as string;
  return { plane, view, serving, call, connect };
};

describe('accounts', () => {
  it('are known by their app and workspace, from old to new, until they are disconnected', async () => {
    const { view, call, connect } = await world();
    const [first, second] = [await connect(), await connect()];
    await connect({ api_key: 'k' }, 'github');
    expect(view.ofApp('slack', 'o_1')).toEqual([first, second]);
    expect(view.ofApp('slack', 'o_2')).toEqual([]);
    expect((await call('put', `/v1/accounts/${first}`).send({ name: 'renamed' })).status).toBe(200);
    expect((await call('delete', `/v1/accounts/${first}`)).status).toBe(204);
    expect(view.ofApp('slack', 'o_1')).toEqual([second]);
    expect((await call('delete', `/v1/accounts/${second}`)).status).toBe(204);
    expect(view.ofApp('slack', 'o_1')).toEqual([]);
  });

  it('are 404 for another workspace', async () => {
    const { call, connect } = await world();
    const path = `/v1/accounts/${await connect()}`;
    for (const method of ['get', 'put', 'delete'] as const)
      expect((await call(method, path, 'other')).status).toBe(404);
    expect((await call('get', path)).status).toBe(200);
  });

  // docs/reference/rest-api.md#account-credentials-shown
  it('show credentials only to the user who connected them', async () => {
    const { call, connect } = await world();
    const path = `/v1/accounts/${await connect()}?include_credentials=true`;
    const refused = await call('get', path, 'colleague');
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('not_owner');
    expect(dataOf(await call('get', path))['credentials']).toEqual({ api_key: 'k' });
  });

  it('show credentials with a trace in a process that serves reads only', async () => {
    const { plane, serving, connect } = await world();
    const id = await connect();
    const call = await serving({ serves: 'queries' });
    expect((await call('put', `/v1/accounts/${id}`).send({ name: 'n' })).status).toBe(421);
    expect((await call('get', `/v1/accounts/${id}?include_credentials=true`)).status).toBe(200);
    const types = (await plane.eventsOf(`account-${id}`)).map(({ type }) => type);
    expect(types).toEqual(['AccountConnected', 'AccountCredentialsShown']);
  });

  it.each(['refresh_token', 'token_url', 'client_secret', 'oauth_access_token', 'expires_in'])(
    'refuse %s outside of credentials and oauth',
    async (name) => {
      const { call, connect } = await world();
      const body = { app: 'slack', credentials: { a: 'b' }, [name]: {} };
      for (const reply of [
        await call('post', '/v1/accounts').send(body),
        await call('put', `/v1/accounts/${await connect()}`).send(body),
      ]) {
        expect(reply.status).toBe(400);
        expect(reply.text).toMatch(/put what refreshes a token into oauth/);
      }
    },
  );

  // docs/reference/rest-api.md#account-list
  it('are paged, and kept to one app', async () => {
    const { call, connect } = await world();
    const first = await connect();
    await connect({ token: 't' }, 'github');
    const last = await connect();
    const page = await call('get', '/v1/accounts?app=slack&limit=1');
    expect(itemsOf(page).map(({ id }) => id)).toEqual([last]);
    const { page_info: info } = page.body as { page_info: { total_count: number; end_cursor: string } };
    expect(info.total_count).toBe(2);
    const next = await call('get', `/v1/accounts?app=slack&limit=1&after=${encodeURIComponent(info.end_cursor)}`);
    expect(itemsOf(next).map(({ id }) => id)).toEqual([first]);
  });

  it('are limited in number', async () => {
    const { call, connect } = await world();
    for (let n = 0; n < 3; n++) await connect();
    const reply = await call('post', '/v1/accounts').send({ app: 'slack', credentials: { a: 'b' } });
    expect(reply.status).toBe(409);
    expect(reply.body).toMatchObject({
      error: 'this workspace has 3 accounts, the limit is 3: delete some',
      details: { limit: 3, actual: 3 },
    });
  });

  it.each([
    ['no field', {}, /1 to 100 fields/],
    ['a field of no name', { '': 'x' }, /has a field/],
    ['too many bytes', { a: 'x'.repeat(60_000), b: '€'.repeat(1_500), c: '€'.repeat(1_000) }, /the limit is 65536/],
    ['too much depth', { a: [[[[[[[[[]]]]]]]]] }, /deeper than 8/],
  ])('refuse credentials with %s', async (_, credentials, words) => {
    const { serving } = await world();
    const call = await serving({ maxBodyBytes: 256 * 1024 });
    const reply = await call('post', '/v1/accounts').send({ app: 'slack', credentials });
    expect(reply.status).toBe(400);
    expect(reply.text).toMatch(words);
  });

  it('take a variable only while the operator offers it', async () => {
    const { plane, view, call, connect } = await world();
    const id = await connect({ api_key: { $env: 'TOKEN' } });
    const values = { TOKEN: 'from the server', HOME: '/root' };
    const authOf = (allowed: string[]) =>
      accountAuths(view, plane.vault, { allowed, values }, STATIC).authOf(id, 'o_1');
    expect(await authOf(['TOKEN'])).toEqual({ api_key: 'from the server' });
    expect(await authOf([])).toEqual({});
    const refused = await call('post', '/v1/accounts').send({ app: 'a', credentials: { k: { $env: 'HOME' } } });
    expect(refused.status).toBe(422);
  });

  it('keep no credentials of an update that is refused', async () => {
    const { plane, call, connect } = await world();
    const id = await connect({ api_key: 'old' });
    const credentials = { api_key: 'refused' };
    expect((await call('put', `/v1/accounts/${id}`).set('If-Match', '"7"').send({ credentials })).status).toBe(412);
    expect((await call('put', '/v1/accounts/apn_none').send({ credentials })).status).toBe(404);
    expect([...plane.vault.secrets.values()].map(({ plaintext }) => plaintext)).toEqual(['{"api_key":"old"}']);
  });

  it('lose their credentials when these are replaced or the account is deleted', async () => {
    const { plane, view, call, connect } = await world();
    const id = await connect({ api_key: 'old' });
    await call('put', `/v1/accounts/${id}`).send({ credentials: { api_key: 'new' } });
    await plane.idle();
    expect([...plane.vault.secrets.values()].map(({ plaintext }) => plaintext)).toEqual(['{"api_key":"new"}']);
    await call('delete', `/v1/accounts/${id}`);
    await plane.idle();
    expect(plane.vault.secrets.size).toBe(0);
    expect(await accountAuths(view, plane.vault, { allowed: [], values: {} }, STATIC).authOf(id, 'o_1')).toEqual({});
  });
});
