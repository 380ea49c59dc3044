import { describe, expect, it } from '@jest/globals';
import { type Reply } from '#test/harness/api-client.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Trigger {
  readonly type: string;
  readonly name: string;
  readonly id: string | null;
  readonly endpoint_url?: string;
  readonly auth?: object;
}
interface Workflow {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly deployment_id: string;
  readonly revision: number;
  readonly active: boolean;
  readonly external_id: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly triggers: readonly Trigger[];
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly definition: Readonly<Record<string, unknown>>;
}
interface Body {
  readonly code?: string;
  readonly data?: Workflow;
  readonly warnings?: readonly { readonly code: string; readonly path: string }[];
  readonly details?: { readonly id?: string; readonly errors?: readonly { path: string; code: string }[] };
}

const { api } = useInstance();

const FAILS = {
  namespace: 'a',
  code: 'export default { run({ steps }) { if (steps.trigger.event.fail) throw new Error("asked") } }',
};
const CODE = 'export default { async run() { return 1 } }';
const definition = (more: object = {}): object => ({
  name: 'Orders',
  triggers: [{ type: 'http' }],
  steps: [{ namespace: 'a', code: CODE }],
  ...more,
});
const post = (body: object, query: Record<string, string> = {}): Promise<Reply<Body>> =>
  api.call('POST', '/v1/workflows', { body, query });
const put = (w: string, body: object | string, headers: Record<string, string> = {}): Promise<Reply<Body>> =>
  api.call('PUT', `/v1/workflows/${encodeURIComponent(w)}`, { body, headers });
const get = (w: string): Promise<Reply<Body>> => api.call('GET', `/v1/workflows/${encodeURIComponent(w)}`);
const created = async (more: object = {}): Promise<Workflow> => dataOf(await post(definition(more)));
const dataOf = ({ status, body }: Reply<Body>): Workflow => {
  if (status !== 200 || !body.data) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body.data;
};
const faultsOf = ({ body }: Reply<Body>): readonly string[] =>
  (body.details?.errors ?? []).map(({ path, code }) => `${path} ${code}`);

describe('a workflow', () => {
  // docs/reference/workflows.md#create #workflow-fields
  it('1: is created and deployed', async () => {
    const workflow = await created();
    expect(workflow).toMatchObject({ version: 1, active: true, has_draft: false, external_id: null });
    expect(workflow.id).toMatch(/^p_[0-9a-z]{18}$/);
    expect(workflow.deployment_id).toMatch(/^d_[0-9a-z]{18}$/);
    expect(workflow.triggers[0]).toMatchObject({ type: 'http', name: 'http', id: expect.stringMatching(/^hi_/) });
    expect(workflow.triggers[0]?.endpoint_url).toMatch(/\/h\/e[0-9a-z]{15}$/);
    expect(workflow.steps[0]).toMatchObject({
      id: expect.stringMatching(/^c_/),
      type: 'CodeCell',
      namespace: 'a',
      savedComponent: { code: CODE, apps: [] },
      configured_props_json: '{}',
    });
    expect(dataOf(await get(workflow.id))).toEqual(workflow);
  });

  it('2: has an equal definition when it comes as YAML', async () => {
    const yaml = `name: Orders\ntriggers: [{ type: http }]\nsteps:\n  - namespace: a\n    code: ${JSON.stringify(CODE)}\n`;
    const reply = await api.call<Body>('POST', '/v1/workflows', {
      body: yaml,
      headers: { 'content-type': 'text/yaml' },
    });
    expect(dataOf(reply).definition).toEqual((await created()).definition);
  });

  // docs/reference/workflows.md#format-yaml
  it('is read as YAML, which changes nothing when it is sent back', async () => {
    const auth = { type: 'bearer', token: 'secret-of-mine' };
    const steps = [{ namespace: 'a', code: 'export default {\n  run() {\n    return "no: 1"\n  }\n}\n' }];
    const workflow = await created({ description: '# no comment', triggers: [{ type: 'http', auth }], steps });
    const path = `/v1/workflows/${workflow.id}`;
    const { status, headers, text } = await api.call('GET', path, { query: { format: 'yaml' } });
    expect([status, headers['content-type'], headers['etag']]).toEqual([
      200,
      'text/yaml; charset=utf-8',
      `"${workflow.revision}"`,
    ]);
    expect(text).toContain('    code: |\n      export default {\n        run() {\n');
    expect(text).not.toContain('secret-of-mine');
    const again = dataOf(await put(workflow.id, text, { 'content-type': 'text/yaml' }));
    expect(again).toEqual(workflow);
    expect((await api.call('GET', path, { query: { format: 'xml' } })).status).toBe(400);
  });

  it('3: is imported with warnings, and refused under the own schema', async () => {
    const code = `export default { props: { chat: { type: 'app', app: 'chat' } },
      run() { return this.chat.$auth ?? null } }`;
    const file = (schema: string, triggers: string) => `schema: ${schema}
name: Orders
triggers: [${triggers}]
steps:
  - namespace: a
    uses: ./x/entry.js
    props: { chat: { authProvisionId: apn_0000000 } }
files:
  x/entry.js: ${JSON.stringify(code)}
`;
    const load = (schema: string, triggers = '{ id: hi_ZbHvJ98 }, { id: ti_abc }') =>
      api.call<Body>('POST', '/v1/workflows', {
        body: file(schema, triggers),
        headers: { 'content-type': 'text/yaml' },
      });
    const imported = await load('workflow/2022.04');
    expect(imported.body.warnings?.map((warning) => warning.code)).toEqual([
      ...['imported_trigger', 'trigger_ignored', 'account_not_found'],
    ]);
    const { id, triggers } = dataOf(imported);
    expect(triggers).toMatchObject([{ type: 'http', name: 'hi_ZbHvJ98' }]);
    const run = await api.expect<{ data: object }>(200, 'POST', `/v1/workflows/${id}/invoke`, { body: { wait: true } });
    expect(run.data).toMatchObject({ state: 'succeeded', steps: [{ exports: { $return_value: {} } }] });
    const own = await load('sluice.workflow/1');
    expect([own.status, own.body.code]).toEqual([400, 'invalid_definition']);
    expect(faultsOf(own)).toEqual(['triggers[0].id unresolved', 'triggers[1].id unresolved']);
    // Whether the code has such a prop is known once it is built.
    expect(faultsOf(await load('sluice.workflow/1', ''))).toEqual(['steps[0].props.chat unresolved']);
  });

  it('10: has its code built at its creation, and its errors at their places', async () => {
    const reply = await post(definition({ steps: [{ namespace: 'a', code: 'export default {' }] }));
    expect(faultsOf(reply)).toEqual(['steps[0].code syntax']);
    const steps = Array.from({ length: 60 }, (_, n) => ({ namespace: `a${n}`, code: `export default { // ${n}` }));
    expect(faultsOf(await post(definition({ steps })))).toHaveLength(50);
  }, 120_000);

  // docs/reference/workflows.md#warnings
  it('8: has what its deployment warns of as errors with strict', async () => {
    const code = `export default { props: { chat: { type: 'app', app: 'chat' } }, run() {} }`;
    const loose = definition({ steps: [{ namespace: 'a', code }] });
    const told = ['steps[0].props.chat no_account'];
    const { body } = await post(loose);
    expect(body.warnings?.map((each) => `${each.path} ${each.code}`)).toEqual(told);
    expect(faultsOf(await post({ ...loose, strict: true }))).toEqual(told);
    const yaml = `name: w\nsteps:\n  - namespace: a\n    props: {}\n    code: ${JSON.stringify(code)}\n`;
    const placed = await api.call<Body>('POST', '/v1/workflows', {
      body: yaml,
      query: { strict: 'true' },
      headers: { 'content-type': 'text/yaml' },
    });
    expect(placed.body.details?.errors).toMatchObject([{ code: 'no_account', line: 4 }]);
  });

  // docs/reference/workflows.md#update
  it('11: stays as it is after a PUT of the same definition', async () => {
    const before = await created();
    const same = await put(before.id, before.definition);
    expect(dataOf(same)).toEqual(before);
    expect(same.headers['etag']).toBe(`"${before.revision}"`);
    expect(dataOf(await put(before.id, definition()))).toEqual(before);
    const changed = dataOf(await put(before.id, { name: 'x' }, { 'if-match': `"${before.revision}"` }));
    expect(changed.revision).toBeGreaterThan(before.revision);
    expect(await put(before.id, { name: 'y' }, { 'if-match': `"${before.revision}"` })).toMatchObject({ status: 412 });
    expect(dataOf(await get(before.id)).name).toBe('x');
  });

  it('12: keeps its URL and gets another version with other code', async () => {
    const before = await created();
    const after = dataOf(await put(before.id, definition({ steps: [{ namespace: 'a', code: `${CODE};` }] })));
    expect(after.version).toBe(2);
    expect(after.deployment_id).not.toBe(before.deployment_id);
    expect(after.triggers[0]?.endpoint_url).toBe(before.triggers[0]?.endpoint_url);
    expect(after.steps[0]?.['id']).toBe(before.steps[0]?.['id']);
  });

  // docs/reference/workflows.md#external-id
  it('13: is found by its external id, and made by PUT once', async () => {
    const [first, second] = await Promise.all([put('ext:shop/x', definition()), put('ext:shop/x', definition())]);
    const { id } = dataOf(first);
    expect(dataOf(second).id).toBe(id);
    expect(dataOf(await get('ext:shop/x'))).toMatchObject({ id, external_id: 'shop/x', version: 1 });
    expect(await post(definition({ external_id: 'shop/x' }))).toMatchObject({
      status: 409,
      body: { code: 'external_id_taken', details: { id } },
    });
    expect(dataOf(await put(id, { external_id: 'shop/y' }))).toMatchObject({ id, version: 1 });
    expect((await get('ext:shop/x')).body.code).toBe('workflow_not_found');
    expect(dataOf(await post(definition({ external_id: 'shop/x' }))).id).not.toBe(id);
    expect(await put(id, { external_id: 'shop/x' })).toMatchObject({ status: 409 });
  });

  it('14: is switched off and on within its version', async () => {
    const { id } = await created();
    expect(dataOf(await put(id, { active: false }))).toMatchObject({ active: false, version: 1 });
    expect(dataOf(await put(id, { active: true }))).toMatchObject({ active: true, version: 1 });
  });

  it('15: has its settings changed by key', async () => {
    const { id } = await created({ settings: { timeout_seconds: 5 } });
    const changed = dataOf(await put(id, { settings: { queue_size: 5 } }));
    expect(changed).toMatchObject({ version: 2, settings: { queue_size: 5, timeout_seconds: 5 } });
    expect(dataOf(await put(id, { settings: { queue_size: null } })).settings).toMatchObject({ queue_size: 100 });
    expect(await put(id, {})).toMatchObject({ status: 400, body: { code: 'missing_parameter' } });
    expect(faultsOf(await put(id, { settings: { queue_size: 0 } }))).toEqual(['settings.queue_size range']);
  });

  // docs/reference/workflows.md#delete
  it('19: is gone after its deletion, and never there for others', async () => {
    const { id } = await created({ external_id: 'gone' });
    await api.expect(204, 'DELETE', `/v1/workflows/${id}`);
    expect(await get(id)).toMatchObject({ status: 404, body: { code: 'workflow_not_found' } });
    expect((await api.call<Body>('DELETE', `/v1/workflows/${id}`)).body.code).toBe('workflow_not_found');
    expect(dataOf(await put('ext:gone', definition())).id).not.toBe(id);
  });

  it('19: is read with a read-only key, and not changed', async () => {
    const { id } = await created();
    const made = await api.expect<{ data: { key: string } }>(200, 'POST', '/v1/api_keys', {
      body: { read_only: true },
    });
    const path = `/v1/workflows/${id}`;
    const { key } = made.data;
    expect((await api.call('GET', path, { key })).status).toBe(200);
    const refused: readonly (readonly [string, string])[] = [
      ['PUT', path],
      ['DELETE', path],
      ['POST', `${path}/deploy`],
      ['POST', `${path}/invoke`],
      ['POST', '/v1/workflows'],
    ];
    for (const [method, at] of refused) {
      const reply = await api.call<Body>(method, at, { key, body: method === 'DELETE' ? undefined : definition() });
      expect([method, at, reply.status, reply.body.code]).toEqual([method, at, 403, 'read_only_key']);
    }
  });

  // docs/reference/workflows.md#trigger-token
  it('20: shows no token, and keeps it for its mask', async () => {
    const auth = { type: 'bearer', token: 'token-of-mine' };
    const before = await created({ triggers: [{ type: 'http', auth }] });
    expect(JSON.stringify(before)).not.toContain('token-of-mine');
    expect(before.triggers[0]?.auth).toEqual({ type: 'bearer', token: '********' });
    expect(dataOf(await put(before.id, before.definition)).version).toBe(1);
    expect(dataOf(await put(before.id, definition({ triggers: [{ type: 'http', auth }] }))).version).toBe(1);
    const other = { ...auth, token: 'another-token' };
    expect(dataOf(await put(before.id, definition({ triggers: [{ type: 'http', auth: other }] }))).version).toBe(2);
    const masked = definition({ triggers: [{ type: 'http', auth: { ...auth, token: '********' } }] });
    expect(faultsOf(await post(masked))).toEqual(['triggers[0].auth.token format']);
    const history = await api.expect<{ data: readonly object[] }>(200, 'GET', `/v1/audit/${before.id}`);
    expect(history.data.length).toBe(3);
    expect(JSON.stringify(history)).not.toMatch(/keyHash":"[0-9a-f]{64}/);
  });

  // docs/reference/workflows.md#trigger-source
  it('is refused with a file as the source of a trigger', async () => {
    const reply = await post(definition({ triggers: [{ type: 'source', uses: './x' }] }));
    expect(faultsOf(reply)).toEqual(['triggers[0].uses unresolved']);
  });

  // docs/reference/workflows.md#workflow-lists
  it('is listed newest first, with a filter for name and state', async () => {
    const first = await created({ name: 'List me' });
    const second = await created({ name: 'LIST ME too', active: false, triggers: [{ type: 'manual' }] });
    const list = (query: Record<string, string>) =>
      api.expect<{ data: readonly Workflow[]; page_info: { total_count: number } }>(200, 'GET', '/v1/workflows', {
        query,
      });
    const both = await list({ q: 'list me' });
    expect(both.data.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(both.data[0]).toMatchObject({ trigger_types: ['manual'], active: false });
    expect(both.data[0]).not.toHaveProperty('definition');
    expect((await list({ q: 'list me', active: 'true' })).data.map(({ id }) => id)).toEqual([first.id]);
    expect(await list({ q: 'list me', limit: '1' })).toMatchObject({
      data: [{ id: second.id }],
      page_info: { total_count: 2 },
    });
    expect((await list({ active: 'false' })).data.map(({ id }) => id)).toContain(second.id);
  });

  // docs/reference/workflows.md#workflow-stats
  it('is listed with the numbers of its runs when they are asked for', async () => {
    const [idle, busy] = [await created({ name: 'Stats idle' }), await created({ name: 'Stats busy', steps: [FAILS] })];
    const invoke = (fail: boolean, test = false) =>
      api.expect(200, 'POST', `/v1/workflows/${busy.id}/invoke`, { body: { event: { fail }, test, wait: true } });
    for (const fail of [true, false]) await invoke(fail);
    await invoke(true, true);
    const { data: me } = await api.expect<{ data: { orgs: readonly { id: string }[] } }>(200, 'GET', '/v1/users/me');
    for (const path of ['/v1/workflows', `/v1/workspaces/${me.orgs[0]?.id}/workflows`]) {
      const list = (query: Record<string, string>) =>
        api.expect<{ data: readonly (Workflow & { stats?: unknown })[] }>(200, 'GET', path, { query });
      const found = await eventually('the history has the runs', async () => {
        const { data } = await list({ q: 'stats', include_stats: 'true' });
        return (data[0]?.stats as { failed_24h: number }).failed_24h === 1 ? data : undefined;
      });
      expect(found.map(({ id, stats }) => [id, stats])).toEqual([
        [busy.id, { last_run_at: expect.any(Number), runs_24h: 2, failed_24h: 1 }],
        [idle.id, { last_run_at: null, runs_24h: 0, failed_24h: 0 }],
      ]);
      expect((await list({ q: 'stats' })).data[0]).not.toHaveProperty('stats');
    }
    const refused = await api.call<Body>('GET', '/v1/workflows', { query: { include_stats: 'yes' } });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_parameter']);
  });
});
