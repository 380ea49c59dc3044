import { CommandBus } from '@nestjs/cqrs';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { dataOf, errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { bootstrap, RegisterUser, TenancyModule, UsageMeter } from './index.js';
import { InMemoryUsage } from './testing/in-memory-usage.js';
import { runningTenancy, type RunningTenancy } from './testing/running-tenancy.js';

const KEY = 'given-key-number-one';

describe('users, workspaces and API keys over HTTP', () => {
  let app: NestExpressApplication;
  let tenancy: RunningTenancy;
  let ids: { userId: string; workspaceId: string };
  const usage = new UsageMeter({ now: () => 1_700_000_000_000 }, new InMemoryUsage());

  const as = (key: string) => {
    const agent = request(app.getHttpServer());
    const auth = { Authorization: `Bearer ${key}` };
    return {
      get: (path: string) => agent.get(path).set(auth),
      post: (path: string) => agent.post(path).set(auth),
      delete: (path: string) => agent.delete(path).set(auth),
    };
  };

  beforeAll(async () => {
    tenancy = await runningTenancy();
    ids = await bootstrap(tenancy.deps, KEY);
    await tenancy.caughtUp();
    app = await httpTestApp({
      imports: [TenancyModule.forRoot({ ...tenancy, usage })],
      http: { callers: tenancy.callers, readYourWrites: tenancy.projectors },
    });
  });
  afterAll(async () => {
    await app.close();
    await tenancy.projectors.stop();
  });

  // docs/reference/rest-api.md#user-fields
  it('answers GET /v1/users/me with the free-plan shape, usage and workspaces', async () => {
    usage.recordRun(ids.workspaceId, 31_000);
    const reply = await as(KEY).get('/v1/users/me/');
    const org = {
      id: ids.workspaceId,
      orgname: 'owner',
      name: 'My workspace',
      email: 'owner@localhost',
      daily_credits_quota: 2147483647,
      daily_credits_used: 2,
      daily_compute_time_quota: 2147483647,
      daily_compute_time_used: 31000,
      daily_invocations_quota: 2147483647,
      daily_invocations_used: 1,
    };
    expect(reply.body).toEqual({
      data: {
        id: ids.userId,
        username: 'owner',
        email: 'owner@localhost',
        daily_compute_time_quota: 2147483647,
        daily_compute_time_used: 31000,
        daily_invocations_quota: 2147483647,
        daily_invocations_used: 1,
        api_key: { id: expect.stringMatching(/^key_/), name: 'given at start', read_only: false, expires_at: null },
        orgs: [{ ...org, role: 'owner' }],
      },
    });
    expect((await as(KEY).get('/v1/users/me/workspaces')).body).toEqual({ data: [org] });
    expect((await as(KEY).get(`/v1/workspaces/${ids.workspaceId}`)).body).toEqual({ data: org });
    expect((await as(KEY).get(`/v1/orgs/${ids.workspaceId}?include=id`)).body).toEqual({
      data: { id: ids.workspaceId },
    });
  });

  // docs/reference/rest-api.md#user-fields
  it('tells the limits of the key, and the role in each workspace', async () => {
    const bus = app.get(CommandBus);
    const mia = await bus.execute(new RegisterUser('mia', 'mia@example.com', 'Mia'));
    const ends = 4_000_000_000;
    const limits = { name: 'ci', read_only: true, expires_at: ends };
    const { id, key } = dataOf(await as(mia.apiKey).post('/v1/api_keys').send(limits)) as { id: string; key: string };
    const member = { user_id: mia.userId, role: 'read_only' };
    expect((await as(KEY).post(`/v1/workspaces/${ids.workspaceId}/members`).send(member)).status).toBe(200);
    await tenancy.caughtUp();
    const me = dataOf(await as(key).get('/v1/users/me')) as { api_key: unknown; orgs: { id: string; role: string }[] };
    expect(me.api_key).toEqual({ id, name: 'ci', read_only: true, expires_at: ends });
    expect(me.orgs.map((org) => [org.id, org.role])).toEqual([
      [mia.workspaceId, 'owner'],
      [ids.workspaceId, 'read_only'],
    ]);
  });

  // docs/reference/rest-api.md#workspace-get #workspace-fields
  it('answers 404 for an unknown workspace and 403 for one that the caller is not in', async () => {
    const bus = app.get(CommandBus);
    const bob = await bus.execute(new RegisterUser('bob', 'bob@example.com', 'Bob'));
    await tenancy.caughtUp();
    expect(errorOf(await as(KEY).get('/v1/workspaces/o_nope'))).toMatchObject({
      status: 404,
      code: 'workspace_not_found',
    });
    expect(errorOf(await as(KEY).get(`/v1/workspaces/${bob.workspaceId}`))).toMatchObject({
      status: 403,
      code: 'not_a_member',
    });
    expect((await as(bob.apiKey).get(`/v1/workspaces/${bob.workspaceId}`)).status).toBe(200);
    await expect(bus.execute(new RegisterUser('bob', 'bob@example.com', 'Bob'))).rejects.toMatchObject({
      code: 'user.already_exists',
    });
  });

  // docs/reference/rest-api.md#api-key-fields #api-key-revoke
  it('issues another key, shows it once, lists it without its text, and refuses it once revoked', async () => {
    const issued = dataOf(await as(KEY).post('/v1/api_keys').send({ name: 'ci' }));
    const { id, key } = issued as { id: string; key: string };
    const limits = { read_only: false, expires_at: null, tools: null };
    expect(issued).toEqual({ id, name: 'ci', ...limits, created_at: 1_700_000_000, key });
    expect((await as(key).get('/v1/users/me')).status).toBe(200);

    const list = await as(key).get('/v1/api_keys');
    expect(
      itemsOf(list)
        .map((item) => item['name'])
        .sort(),
    ).toEqual(['ci', 'given at start']);
    expect(list.text).not.toContain(key);

    const revoked = await as(key).delete(`/v1/api_keys/${id}`);
    expect([revoked.status, revoked.text]).toEqual([204, '']);
    expect(errorOf(await as(key).get('/v1/users/me'))).toMatchObject({ status: 401, code: 'unauthorized' });
    expect((await as(KEY).delete(`/v1/api_keys/${id}`)).status).toBe(204);
    expect(itemsOf(await as(KEY).get('/v1/api_keys'))).toHaveLength(1);
  });

  // docs/reference/rest-api.md#api-key-tools
  it('issues a key for tools only, which opens nothing here, not even itself', async () => {
    const tools = ['send_mail', 'slack-send'];
    const issued = dataOf(await as(KEY).post('/v1/api_keys').send({ name: 'agent', tools }));
    const { id, key } = issued as { id: string; key: string };
    expect(issued).toMatchObject({ name: 'agent', read_only: false, expires_at: null, tools });
    const listed = itemsOf(await as(KEY).get('/v1/api_keys'));
    expect(listed.find((item) => item['id'] === id)).toMatchObject({ name: 'agent', tools });
    for (const reply of [
      await as(key).get('/v1/users/me'),
      await as(key).get('/v1/api_keys'),
      await as(key).post('/v1/api_keys').send({ tools }),
      await as(key).post('/v1/api_keys').send({}),
      await as(key).delete(`/v1/api_keys/${id}`),
      await as(key).get('/v1/workspaces/o_nope'),
    ]) {
      expect(errorOf(reply)).toMatchObject({ status: 403, code: 'tools_only_key' });
    }
    expect((await as(KEY).delete(`/v1/api_keys/${id}`)).status).toBe(204);
    expect(errorOf(await as(key).get('/v1/users/me'))).toMatchObject({ status: 401 });
  });

  it('issues a key for everything for tools of null', async () => {
    const issued = dataOf(await as(KEY).post('/v1/api_keys').send({ tools: null }));
    const { id, key } = issued as { id: string; key: string };
    expect(issued).toMatchObject({ tools: null });
    expect((await as(key).get('/v1/users/me')).status).toBe(200);
    expect((await as(KEY).delete(`/v1/api_keys/${id}`)).status).toBe(204);
  });

  // What is no list of names must not be left out, because the key would open everything.
  it.each([
    [{ tools: [] }, 'tools'],
    [{ tools: 'send_mail' }, 'tools'],
    [{ tools: '' }, 'tools'],
    [{ tools: false }, 'tools'],
    [{ tools: { 0: 'send_mail' } }, 'tools'],
    [{ tools: [1] }, 'tools'],
    [{ tools: [null] }, 'tools'],
    [{ tools: [['send_mail']] }, 'tools'],
    [{ tools: Array.from({ length: 201 }, (_, i) => `t${i}`) }, 'tools'],
    [{ tools: ['send mail'] }, 'tools[0]'],
    [{ tools: ['a', 'a'] }, 'tools[1]'],
  ])('refuses the tools in %j', async (body, field) => {
    const before = itemsOf(await as(KEY).get('/v1/api_keys')).length;
    expect(errorOf(await as(KEY).post('/v1/api_keys').send(body))).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      details: { field },
    });
    expect(itemsOf(await as(KEY).get('/v1/api_keys'))).toHaveLength(before);
  });

  // docs/reference/rest-api.md#misspelt-parameters
  it.each([
    [{ tool: ['send_mail'] }, 'tool', 'tools'],
    [{ Tools: ['send_mail'] }, 'Tools', 'tools'],
    [{ readOnly: true }, 'readOnly', 'read_only'],
    [{ is_read_only: true }, 'is_read_only', 'read_only'],
    [{ expires_in: 60 }, 'expires_in', 'expires_at'],
  ])('makes no key when a limit of it is misspelt: %j', async (body, field, expected) => {
    const before = itemsOf(await as(KEY).get('/v1/api_keys')).length;
    const { status, code, error, details } = errorOf(await as(KEY).post('/v1/api_keys').send(body));
    expect({ status, code, details }).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      details: { field, expected },
    });
    expect(error).toContain(`there is no parameter ${field}; did you mean ${expected}? Nothing was made.`);
    expect(itemsOf(await as(KEY).get('/v1/api_keys'))).toHaveLength(before);
  });

  it('makes a key when its name is misspelt, which limits nothing, with a warning', async () => {
    const reply = await as(KEY).post('/v1/api_keys').send({ nmae: 'ci' });
    expect(reply.body).toMatchObject({ warnings: [{ code: 'unknown_parameter', path: 'nmae' }] });
    const { id } = dataOf(reply) as { id: string };
    expect((await as(KEY).delete(`/v1/api_keys/${id}`)).status).toBe(204);
  });

  it('reads names of tools in the query too', async () => {
    expect(errorOf(await as(KEY).post('/v1/api_keys?tools=send_mail'))).toMatchObject({ details: { field: 'tools' } });
    const issued = dataOf(await as(KEY).post('/v1/api_keys?tools=a&tools=b')) as { id: string };
    expect(issued).toMatchObject({ tools: ['a', 'b'] });
    expect((await as(KEY).delete(`/v1/api_keys/${issued.id}`)).status).toBe(204);
  });

  // docs/reference/rest-api.md#api-key-revoke
  it("answers 404 for an unknown key and for another user's key", async () => {
    const eve = await app.get(CommandBus).execute(new RegisterUser('eve', 'eve@example.com', 'Eve'));
    const { id } = dataOf(await as(KEY).post('/v1/api_keys')) as { id: string };
    for (const other of [id, 'key_nope']) {
      expect(errorOf(await as(eve.apiKey).delete(`/v1/api_keys/${other}`))).toMatchObject({
        status: 404,
        code: 'api_key_not_found',
      });
    }
  });

  // docs/reference/rest-api.md#api-key-create
  it.each([[{ name: '' }], [{ name: 5 }], [{ name: 'x'.repeat(101) }]])('refuses the name in %j', async (body) => {
    expect(errorOf(await as(KEY).post('/v1/api_keys').send(body))).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      details: { field: 'name' },
    });
  });
});
