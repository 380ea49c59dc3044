import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient, type Data, type ErrorBody } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';

const instance = useInstance();
const { api } = instance;

interface Member {
  readonly user_id: string;
  readonly username: string;
  readonly role: string;
}
interface Key {
  readonly id: string;
  readonly key: string;
  readonly read_only: boolean;
  readonly expires_at: number | null;
}

let ada: SecondWorkspace;
let adaId: string;
let workspace: string;

beforeAll(async () => {
  ada = await addWorkspace(instance, 'ada');
  // Several processes read the new user at their own pace.
  adaId = await eventually('the new user', async () => {
    const reply = await ada.api.call<Data<{ id: string }>>('GET', '/v1/users/me');
    return reply.status === 200 ? reply.body.data.id : undefined;
  });
  const mine = await api.expect<Data<{ id: string }[]>>(200, 'GET', '/v1/users/me/workspaces');
  workspace = mine.data[0]?.id ?? '';
}, 120_000);
afterAll(() => ada.api.close());

const clients: ApiClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));
const clientWith = (apiKey: string): ApiClient => {
  const target = {
    get url() {
      return instance.server.url;
    },
    apiKey,
  };
  const client = new ApiClient(target);
  clients.push(client);
  return client;
};

const members = async (): Promise<readonly Member[]> =>
  (await api.expect<Data<Member[]>>(200, 'GET', `/v1/workspaces/${workspace}/members`)).data;
const setRole = (role: string) =>
  api.expect<Data<Member>>(200, 'PUT', `/v1/workspaces/${workspace}/members/${adaId}`, { body: { role } });
const add = (role?: string) =>
  api.expect<Data<Member>>(200, 'POST', `/v1/workspaces/${workspace}/members`, {
    body: { user_id: adaId, ...(role === undefined ? {} : { role }) },
  });
const remove = (userId: string, client = api) =>
  client.call<ErrorBody>('DELETE', `/v1/workspaces/${workspace}/members/${userId}`);
const named = { workspace_id: '' };

// docs/reference/rest-api.md#roles
describe('members of a workspace', () => {
  // docs/reference/rest-api.md#members #member-fields
  it('are added, listed and removed by an owner; a removed one loses the workspace at once', async () => {
    named.workspace_id = workspace;
    const before = await ada.api.call<ErrorBody>('GET', `/v1/workspaces/${workspace}`);
    expect(before).toMatchObject({ status: 403, body: { code: 'not_a_member' } });
    expect((await add()).data).toMatchObject({ user_id: adaId, username: 'ada', role: 'member' });
    expect((await add()).data.role).toBe('member');
    expect((await members()).map(({ username, role }) => [username, role])).toEqual([
      ['owner', 'owner'],
      ['ada', 'member'],
    ]);
    await ada.api.expect(200, 'GET', `/v1/workspaces/${workspace}`);
    expect((await remove(adaId)).status).toBe(204);
    expect((await ada.api.call('GET', `/v1/workspaces/${workspace}`)).status).toBe(403);
    expect(await remove(adaId)).toMatchObject({ status: 404, body: { code: 'member_not_found' } });
  });

  // docs/reference/rest-api.md#acting-workspace #workspace-of-new
  it('of several workspaces create in their own, or in the one that they name, and see those of all', async () => {
    await add();
    const body = { component_code: relayCode() };
    const own = await ada.api.expect<Data<{ id: string; owner_id: string }>>(200, 'POST', '/v1/sources', { body });
    expect(own.data.owner_id).toBe(ada.workspaceId);
    const made = await ada.api.expect<Data<{ id: string }>>(200, 'POST', '/v1/sources', { body, query: named });
    expect((await api.getSource(made.data.id)).id).toBe(made.data.id);
    const mine = async () =>
      (await ada.api.expect<Data<{ id: string }[]>>(200, 'GET', '/v1/users/me/sources')).data.map(({ id }) => id);
    expect(await mine()).toEqual([made.data.id, own.data.id]);
    await remove(adaId);
    expect((await ada.api.call('GET', `/v1/sources/${made.data.id}`)).status).toBe(404);
    expect(await mine()).toEqual([own.data.id]);
    await ada.api.deleteSource(own.data.id);
    await api.deleteSource(made.data.id);
  });

  // docs/reference/rest-api.md#roles
  it('with the role read_only read everything and change nothing', async () => {
    await add('read_only');
    const source = await instance.deploy(relayCode());
    await ada.api.expect(200, 'GET', `/v1/sources/${source.id}`);
    const refused = await ada.api.call<ErrorBody>('PUT', `/v1/sources/${source.id}`, {
      query: named,
      body: { name: 'Mine now' },
    });
    expect(refused).toMatchObject({ status: 403, body: { code: 'read_only_member' } });
    expect((await ada.api.call('DELETE', `/v1/sources/${source.id}`)).status).toBe(404);
    expect((await api.getSource(source.id)).name).toBe(source.name);
    await setRole('member');
    await ada.api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { name: 'Ours' } });
    await remove(adaId);
  });

  // docs/reference/rest-api.md#roles #members
  it('are managed by owners only, except that each may leave', async () => {
    await add();
    const owner = (await members())[0]?.user_id ?? '';
    const path = `/v1/workspaces/${workspace}/members`;
    for (const [method, at] of [
      ['POST', path],
      ['PUT', `${path}/${owner}`],
      ['DELETE', `${path}/${owner}`],
    ] as const) {
      const body = { user_id: owner, role: 'member' };
      const reply = await ada.api.call<ErrorBody>(method, at, method === 'DELETE' ? {} : { body });
      expect(reply).toMatchObject({ status: 403, body: { code: 'not_an_owner' } });
    }
    expect((await remove(adaId, ada.api)).status).toBe(204);
  });

  // docs/reference/rest-api.md#members
  it('who take each other’s ownership at once leave one owner', async () => {
    const owner = (await members())[0]?.user_id ?? '';
    await add('owner');
    const step = (client: ApiClient, userId: string, role: string) =>
      client.call<ErrorBody>('PUT', `/v1/workspaces/${workspace}/members/${userId}`, { body: { role } });
    // Each removes the other's ownership. The second one is refused, so that one owner is left.
    const taken = await Promise.all([step(api, adaId, 'member'), step(ada.api, owner, 'member')]);
    expect(taken.map(({ status }) => status).sort()).toEqual([200, 403]);
    const [mine] = taken;
    await (mine?.status === 200 ? step(api, adaId, 'owner') : step(ada.api, owner, 'owner'));
    await remove(adaId, ada.api);
    expect((await members()).map(({ role }) => role)).toEqual(['owner']);
  });

  // docs/reference/rest-api.md#members
  it('are named by their address in any case, or by their name', async () => {
    const { data: user } = await ada.api.expect<Data<{ email: string; username: string }>>(200, 'GET', '/v1/users/me');
    for (const body of [{ email: user.email.toUpperCase() }, { username: user.username }]) {
      const { data } = await api.expect<Data<Member>>(200, 'POST', `/v1/workspaces/${workspace}/members`, { body });
      expect(data).toMatchObject({ user_id: adaId, role: 'member' });
      await remove(adaId);
    }
  });

  it.each([
    [{ user_id: 'u_none' }, 404, 'user_not_found'],
    [{ email: 'nobody@example.com' }, 404, 'user_not_found'],
    [{ username: 'nobody', user_id: null }, 404, 'user_not_found'],
    [{ username: 'nobody', email: 'nobody@example.com' }, 400, 'invalid_parameter'],
    [{ username: '' }, 400, 'missing_parameter'],
    [{}, 400, 'missing_parameter'],
    [{ user_id: 'u_none', role: 'king' }, 400, 'invalid_parameter'],
  ])('are refused: %j', async (body, status, code) => {
    const reply = await api.call<ErrorBody>('POST', `/v1/workspaces/${workspace}/members`, { body });
    expect(reply).toMatchObject({ status, body: { code } });
  });
});

// docs/reference/rest-api.md#api-key-limits
describe('an API key', () => {
  const issue = async (body: object): Promise<Key> =>
    (await api.expect<Data<Key>>(200, 'POST', '/v1/api_keys', { body })).data;

  // docs/reference/rest-api.md#api-key-limits #api-key-rights
  it('that is read-only reads, and changes nothing, not even keys', async () => {
    const made = await issue({ name: 'Reader', read_only: true });
    expect(made).toMatchObject({ read_only: true, expires_at: null });
    const reader = clientWith(made.key);
    const source = await instance.deploy(relayCode());
    await reader.expect(200, 'GET', `/v1/sources/${source.id}`);
    for (const [method, path, body] of [
      ['PUT', `/v1/sources/${source.id}`, { name: 'x' }],
      ['DELETE', `/v1/sources/${source.id}`, undefined],
      ['POST', `/v1/sources/${source.id}/run`, {}],
      ['POST', '/v1/api_keys', {}],
      ['DELETE', `/v1/api_keys/${made.id}`, undefined],
    ] as const) {
      const reply = await reader.call<ErrorBody>(method, path, body === undefined ? {} : { body });
      expect(reply).toMatchObject({ status: 403, body: { code: 'read_only_key' } });
    }
    await api.expect(204, 'DELETE', `/v1/api_keys/${made.id}`);
  });

  // docs/reference/rest-api.md#api-key-limits
  it('ends at its time, and makes none that outlasts it', async () => {
    const end = Math.floor(Date.now() / 1_000) + 3;
    const made = await issue({ expires_at: end });
    expect(made.expires_at).toBe(end);
    const client = clientWith(made.key);
    for (const body of [{}, { expires_at: end + 60 }]) {
      const reply = await client.call<ErrorBody>('POST', '/v1/api_keys', { body });
      expect(reply).toMatchObject({ status: 400, body: { details: { field: 'expires_at' } } });
    }
    await client.expect(200, 'POST', '/v1/api_keys', { body: { expires_at: end } });
    await eventually('the end of the key', async () =>
      (await client.call('GET', '/v1/users/me')).status === 401 ? true : undefined,
    );
    const past = await api.call<ErrorBody>('POST', '/v1/api_keys', { body: { expires_at: end - 100 } });
    expect(past).toMatchObject({ status: 400, body: { details: { field: 'expires_at' } } });
  });
});

// docs/reference/rest-api.md#projects
it('a workspace has one project, always the same', async () => {
  const list = () => api.expect<Data<{ id: string }[]>>(200, 'GET', `/v1/workspaces/${workspace}/projects`);
  const { data } = await list();
  expect(data).toEqual([{ id: expect.stringMatching(/^proj_/), name: 'Default project', workspace_id: workspace }]);
  expect((await list()).data).toEqual(data);
});
