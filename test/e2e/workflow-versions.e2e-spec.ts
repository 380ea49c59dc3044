import { beforeAll, describe, expect, it } from '@jest/globals';
import { useInstance } from '#test/harness/instance.js';

interface Version {
  readonly version: number;
  readonly deployment_id: string;
  readonly created_at: number;
  readonly user_id: string;
  readonly restored_from: number | null;
  readonly definition?: object;
}
interface VersionDiff {
  readonly from: number | null;
  readonly to: number;
  readonly changes: readonly { readonly path: string; readonly before?: unknown; readonly after?: unknown }[];
  readonly text: string | null;
}
interface Workflow {
  readonly id: string;
  readonly deployment_id: string;
  readonly user_id: string;
  readonly definition: object;
}
interface Versions {
  readonly data: readonly Version[];
  readonly page_info: { readonly total_count: number; readonly end_cursor: string };
}

const { api } = useInstance();

const definition = (result: number): object => ({
  name: 'Orders',
  external_id: 'versions/orders',
  triggers: [{ type: 'http', auth: { type: 'bearer', token: 'token-of-mine' } }],
  steps: [{ namespace: 'a', code: `export default { run() { return ${result} } }` }],
});

describe('the versions of a workflow', () => {
  let first: Workflow;
  let second: Workflow;

  const versions = (w: string, query: Record<string, string> = {}): Promise<Versions> =>
    api.expect(200, 'GET', `/v1/workflows/${encodeURIComponent(w)}/versions`, { query });
  const version = async (number: string | number): Promise<Version> =>
    (await api.expect<{ data: Version }>(200, 'GET', `/v1/workflows/${first.id}/versions/${number}`)).data;
  const saved = async (method: 'POST' | 'PUT', path: string, body: object): Promise<Workflow> =>
    (await api.expect<{ data: Workflow }>(200, method, `/v1/workflows${path}`, { body })).data;

  beforeAll(async () => {
    first = await saved('POST', '', definition(1));
    second = await saved('PUT', `/${first.id}`, definition(2));
    await saved('PUT', `/${first.id}`, { description: 'no version', active: false });
  });

  // docs/reference/workflows.md#version-routes #version-fields
  it('are listed newest first, in pages, by id and by external id', async () => {
    const all = await versions(first.id);
    expect(all.data.map(({ version, deployment_id }) => [version, deployment_id])).toEqual([
      [2, second.deployment_id],
      [1, first.deployment_id],
    ]);
    expect(all.data[0]).toMatchObject({ user_id: first.user_id, restored_from: null });
    expect(all.data[0]).not.toHaveProperty('definition');
    expect(await versions('ext:versions/orders')).toEqual(all);
    const newest = await versions(first.id, { limit: '1' });
    expect(newest).toMatchObject({ data: [{ version: 2 }], page_info: { total_count: 2 } });
    const { data } = await versions(first.id, { limit: '1', after: newest.page_info.end_cursor });
    expect(data).toEqual(all.data.slice(1));
  });

  // docs/reference/workflows.md#version-routes
  it('keep the definition that was deployed, without its secrets', async () => {
    const former = await version(1);
    expect(former).toMatchObject({ version: 1, deployment_id: first.deployment_id });
    expect(former.definition).toEqual({ ...first.definition, description: 'no version' });
    expect((await version(2)).definition).toEqual({ ...second.definition, description: 'no version' });
    expect(JSON.stringify(former)).not.toContain('token-of-mine');
  });

  // docs/reference/workflows.md#version-diff
  it('18: are compared, with the code before and after', async () => {
    const diff = async (number: number, query: Record<string, string> = {}): Promise<VersionDiff> =>
      (
        await api.expect<{ data: VersionDiff }>(200, 'GET', `/v1/workflows/${first.id}/versions/${number}/diff`, {
          query,
        })
      ).data;
    const [before, after] = [1, 2].map((result) => `export default { run() { return ${result} } }`);
    const changed = await diff(2);
    expect(changed).toMatchObject({ from: 1, to: 2, changes: [{ path: '/steps/0/code', before, after }] });
    expect(changed.text).toMatch(
      /^--- version 1\n\+\+\+ version 2\n@@ [^\n]*\n(?: [^\n]*\n)*-[^\n]*return 1.*\n\+.*return 2/,
    );
    expect(await diff(1, { with: '2' })).toMatchObject({ from: 2, to: 1, changes: [{ before: after, after: before }] });
    expect(await diff(2, { with: '2' })).toEqual({ from: 2, to: 2, changes: [], text: '' });
    const created = await diff(1);
    expect(created).toMatchObject({ from: null, to: 1 });
    expect(created.changes.find(({ path }) => path === '/name')).toEqual({ path: '/name', after: 'Orders' });
    expect(JSON.stringify(created)).not.toContain('token-of-mine');
    const wrong = (other: string) =>
      api.call<{ code?: string }>('GET', `/v1/workflows/${first.id}/versions/2/diff`, { query: { with: other } });
    expect(await wrong('9')).toMatchObject({ status: 404, body: { code: 'version_not_found' } });
    expect(await wrong('0')).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
  });

  // docs/reference/workflows.md#version-diff
  it('18: are compared without a text when they are large', async () => {
    const steps = [{ namespace: 'a', code: 'export default { run() {} }' }];
    const files = { 'a.js': 'x\n'.repeat(300_000), 'b.js': 'y\n'.repeat(300_000) };
    const { data } = await api.expect<{ data: Workflow }>(200, 'POST', '/v1/workflows', {
      body: { name: 'Large', steps, files },
    });
    await api.expect(200, 'PUT', `/v1/workflows/${data.id}`, { body: { steps } });
    const reply = await api.expect<{ data: VersionDiff; warnings?: readonly { code: string }[] }>(
      200,
      'GET',
      `/v1/workflows/${data.id}/versions/2/diff`,
    );
    expect(reply).toMatchObject({
      data: { from: 1, to: 2, changes: [{ path: '/files', before: files }], text: null },
      warnings: [{ code: 'text_left_out' }],
    });
  });

  // docs/reference/workflows.md#version-routes
  it('are not found under another number, or after the deletion', async () => {
    const get = (number: string) =>
      api.call<{ code?: string }>('GET', `/v1/workflows/${first.id}/versions/${encodeURIComponent(number)}`);
    for (const number of ['0', '3', '01', '1.0', 'latest', `d_${'0'.repeat(18)}`, '9'.repeat(200)])
      expect([number, await get(number)]).toMatchObject([number, { status: 404, body: { code: 'version_not_found' } }]);
    await api.expect(204, 'DELETE', `/v1/workflows/${first.id}`);
    expect(await get('1')).toMatchObject({ status: 404, body: { code: 'workflow_not_found' } });
  });
});

// docs/reference/workflows.md#versions #uses
describe('the pins of a version', () => {
  const publish = (version: string) =>
    api.expect(200, 'POST', '/v1/components', {
      body: {
        component_code: `export default { type: 'action', key: 'ranged', name: 'Ranged', version: '${version}', run() { return 1 } }`,
      },
    });
  interface Pinned {
    readonly id: string;
    readonly version: number;
    readonly revision: number;
    readonly steps: readonly { readonly savedComponent: { readonly version: string } }[];
  }
  const put = async (path: string, uses: readonly string[], more: object = {}): Promise<Pinned> => {
    const steps = uses.map((each, i) => ({ namespace: `s${i}`, uses: each }));
    const body = { name: 'Pinned', steps, ...more };
    const method = path === '' ? 'POST' : 'PUT';
    return (await api.expect<{ data: Pinned }>(200, method, `/v1/workflows${path}`, { body })).data;
  };
  const pins = ({ steps }: Pinned): readonly string[] => steps.map(({ savedComponent: { version } }) => version);

  it('stay until a refresh, which looks for the newest of each range', async () => {
    await publish('1.0.0');
    const uses = ['ranged', 'ranged@^1.0.0', 'ranged@1.0.0'];
    const first = await put('', uses);
    expect(pins(first)).toEqual(['1.0.0', '1.0.0', '1.0.0']);
    const path = `/${first.id}`;
    expect(await put(path, uses, { refresh: true })).toMatchObject({ version: 1, revision: first.revision });

    for (const version of ['1.0.1', '1.2.0', '2.0.0']) await publish(version);
    expect(await put(path, uses)).toMatchObject({ version: 1, revision: first.revision });
    const more = await put(path, [...uses, 'ranged@^2.0.0', 'ranged'], { settings: { queue_size: 5 } });
    expect(pins(more)).toEqual(['1.0.0', '1.0.0', '1.0.0', '2.0.0', '1.0.0']);
    expect(pins(await put(path, uses, { refresh: true }))).toEqual(['2.0.0', '1.2.0', '1.0.0']);
    expect(pins(await put(path, uses))).toEqual(['2.0.0', '1.2.0', '1.0.0']);
  });
});
