import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { useInstance } from '#test/harness/instance.js';

interface Variable {
  readonly name: string;
  readonly updated_at: number;
}
interface Entry {
  readonly resource_id: string;
  readonly kind: string;
  readonly type: string;
  readonly data: { readonly name: string };
}

const SECRET = 'value-of-a-variable';
const { api } = useInstance();
let workspace: string;

beforeAll(async () => {
  const { data } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
  workspace = `/v1/workspaces/${data.orgs[0]?.id}`;
});
const list = () => api.expect<Data<Variable[]>>(200, 'GET', `${workspace}/variables`);
const set = (name: string, value: string) =>
  api.call<Data<Variable> & ErrorBody>('PUT', `${workspace}/variables/${name}`, { body: { value } });
const remove = (name: string) => api.call<ErrorBody>('DELETE', `${workspace}/variables/${name}`);

describe('variables of a workspace', () => {
  // docs/reference/rest-api.md#variables #variable-fields #variable-set
  it('are set, changed and listed by name, and no reply has a value', async () => {
    await set('B', SECRET);
    const reply = await set('A', SECRET);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ data: { name: 'A', updated_at: expect.any(Number) } });
    await set('A', `${SECRET} changed`);
    expect((await list()).data.map(({ name }) => name)).toEqual(['A', 'B']);
    expect(JSON.stringify(await list())).not.toContain(SECRET);
    for (const name of ['NODE_OPTIONS', 'LD_PRELOAD', 'SLUICE_PORT', '1A', '%20'])
      expect(await set(name, SECRET)).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
  });

  // docs/reference/rest-api.md#variable-delete
  it('are deleted, and then unknown', async () => {
    await set('GONE', SECRET);
    expect((await remove('GONE')).status).toBe(204);
    expect((await list()).data.map(({ name }) => name)).not.toContain('GONE');
    expect(await remove('GONE')).toMatchObject({ status: 404, body: { code: 'variable_not_found' } });
  });

  // docs/reference/rest-api.md#workspace-audit #audit-masking
  it('are in the history of the workspace without their values', async () => {
    await set('AUDITED', SECRET);
    await remove('AUDITED');
    const reply = await api.call<Data<Entry[]>>('GET', `${workspace}/audit`, { query: { kind: 'variable' } });
    const entries = reply.body.data.filter(({ data }) => data.name === 'AUDITED');
    expect(entries.map(({ type }) => type)).toEqual(['VariableDeleted', 'VariableSet']);
    expect(reply.text).not.toMatch(/value-of-a-variable|sec_/);
    const id = entries[0]?.resource_id ?? '';
    expect(id).toMatch(/^var_[0-9a-z]{18}$/);
    expect((await api.call('GET', `/v1/audit/${id}`)).text).toContain('AUDITED');
  });
});
