import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

interface Workflow {
  readonly id: string;
  readonly version: number;
  readonly triggers: readonly { readonly endpoint_url: string; readonly auth: unknown }[];
  readonly definition: { readonly triggers: readonly unknown[] };
}
interface Created extends Data<Workflow> {
  readonly warnings?: readonly { readonly code: string; readonly path: string }[];
}

const { api, server } = useInstance();
let workspace: string;
beforeAll(async () => {
  const { data } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
  workspace = `/v1/workspaces/${data.orgs[0]?.id}`;
});

const put = (name: string, value: string) =>
  api.expect(200, 'PUT', `${workspace}/variables/${name}`, { body: { value } });
const remove = (name: string) => api.expect(204, 'DELETE', `${workspace}/variables/${name}`);

const auth = (name: string) => ({ type: 'bearer', token: `{{process.env.${name}}}` });
const definition = (name: string) => ({
  name,
  triggers: [{ type: 'http', auth: auth(name) }],
  steps: [{ namespace: 'a', code: 'export default { run() {} }' }],
});
const deployed = async (name: string): Promise<Created> =>
  api.expect<Created>(200, 'POST', '/v1/workflows', { body: definition(name) });

/** Statuses of requests with these tokens, in order. */
const statuses = async (workflowId: string, ...tokens: readonly string[]): Promise<readonly number[]> => {
  const { data } = await api.expect<Data<Workflow>>(200, 'GET', `/v1/workflows/${workflowId}`);
  const found: number[] = [];
  for (const token of tokens) {
    const headers = { authorization: `Bearer ${token}` };
    found.push((await send(data.triggers[0]?.endpoint_url ?? '', { body: {}, headers })).status);
  }
  return found;
};

// docs/reference/workflows.md#trigger-token
describe('the token of an address, from a variable', () => {
  it('follows each change of the variable, and admits nobody without it', async () => {
    await put('FOLLOWED', 'first-token');
    const { data, warnings } = await deployed('FOLLOWED');
    expect(warnings).toBeUndefined();
    expect(await statuses(data.id, 'first-token', 'other-token', '{{process.env.FOLLOWED}}')).toEqual([200, 401, 401]);
    await put('FOLLOWED', 'second-token');
    expect(await statuses(data.id, 'first-token', 'second-token')).toEqual([401, 200]);
    await remove('FOLLOWED');
    expect(await statuses(data.id, 'first-token', 'second-token', 'undefined')).toEqual([401, 401, 401]);
    await put('FOLLOWED', 'short');
    expect(await statuses(data.id, 'second-token', 'short')).toEqual([401, 401]);
    await put('FOLLOWED', 'third-token');
    expect(await statuses(data.id, 'second-token', 'third-token')).toEqual([401, 200]);
  });

  it('is awaited when the variable does not exist yet, with a warning', async () => {
    const { data, warnings } = await deployed('AWAITED');
    expect(warnings).toMatchObject([{ code: 'variable_not_found', path: 'triggers[0].auth.token' }]);
    expect(await statuses(data.id, 'first-token')).toEqual([401]);
    await put('AWAITED', 'first-token');
    expect(await statuses(data.id, 'first-token')).toEqual([200]);
  });

  it('is shown as the variable, and sent back changes nothing', async () => {
    await put('SHOWN', 'shown-token');
    const { data } = await deployed('SHOWN');
    expect([data.triggers[0]?.auth, data.definition.triggers]).toEqual([
      auth('SHOWN'),
      [{ type: 'http', auth: auth('SHOWN') }],
    ]);
    const again = await api.expect<Created>(200, 'PUT', `/v1/workflows/${data.id}`, { body: data.definition });
    expect(again.data.version).toBe(1);
    const audit = await api.call('GET', `${workspace}/audit`, { query: { kind: 'variable' } });
    expect(audit.text).toContain('VariableHashed');
    expect(audit.text).not.toMatch(/shown-token|"keyHash":"[0-9a-f]/);
  });

  it('stays over a restart, and follows changes after it', async () => {
    await put('KEPT', 'first-token');
    const { data } = await deployed('KEPT');
    await put('KEPT', 'second-token');
    await server.kill9();
    await server.restart();
    expect(await statuses(data.id, 'first-token', 'second-token')).toEqual([401, 200]);
    await put('KEPT', 'third-token');
    expect(await statuses(data.id, 'second-token', 'third-token')).toEqual([401, 200]);
  }, 120_000);
});
