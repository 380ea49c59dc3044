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

  // docs/reference/rest-api.md#several-workspaces #workspace-of-new
  it('of several workspaces must name one to create something, and see those of all', async () => {
    await add();
    const body = { component_code: relayCode() };
    const refused = await ada.api.call<ErrorBody>('POST', '/v1/sources', { body });
    expect(refused).toMatchObject({ status: 400, body: { error: 'please specify a valid workspace' } });
    const made = await ada.api.expect<Data<{ id: string }>>(200, 'POST', '/v1/sources', { body, query: named });
    expect((await api.getSource(made.data.id)).id).toBe(made.data.id);
    await remove(adaId);
    expect((await ada.api.call('GET', `/v1/sources/${made.data.id}`)).status).toBe(404);
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
  it('keep an owner, also when the last two step down at once', async () => {
    const owner = (await members())[0]?.user_id ?? '';
    expect(await remove(owner)).toMatchObject({ status: 409, body: { code: 'last_owner' } });
    await add('owner');
    const step = (client: ApiClient, userId: string) =>
      client.call('PUT', `/v1/workspaces/${workspace}/members/${userId}`, { body: { role: 'member' } });
    const replies = await Promise.all([step(api, owner), step(ada.api, adaId)]);
    expect(replies.map(({ status }) => status).sort()).not.toEqual([200, 200]);
    const left = (await ada.api.expect<Data<Member[]>>(200, 'GET', `/v1/workspaces/${workspace}/members`)).data;
    const owners = left.filter(({ role }) => role === 'owner').map(({ user_id }) => user_id);
    expect(owners).toHaveLength(1);
    const back = { body: { role: 'owner' } };
    if (owners[0] !== owner) await ada.api.expect(200, 'PUT', `/v1/workspaces/${workspace}/members/${owner}`, back);
    expect((await remove(adaId)).status).toBe(204);
  });

  it.each([
    [{ user_id: 'u_none' }, 404, 'user_not_found'],
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
