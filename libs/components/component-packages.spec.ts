import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { type Caller } from '#libs/http/callers.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { ComponentsModule, componentsContext } from './index.js';
import { COMPONENT_CATALOG, type ComponentCatalog } from './published.js';
import { REGISTRY_WORKSPACE } from './registry/registry-entry.js';
import { codeOf, FakeCalls, FakeInspector, InMemoryBlobs, noUsers } from './testing/fakes.js';

const caller = (userId: string, ...workspaceIds: string[]): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds,
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
});
const CONTEXT: CommandContext = {
  commandId: 'cmd',
  correlationId: 'cmd',
  causationId: 'cmd',
  actor: { userId: 'u_1', apiKeyId: 'key_1' },
  workspaceId: 'o_1',
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const world = async () => {
  const plane = await ControlPlane.start({ projections: componentsContext.projections });
  const inspector = new FakeInspector();
  inspector.packageVersion = '1.0.0';
  const fetcher = { fetch: (url: string) => Promise.reject(new Error(`unexpected fetch of ${url}`)) };
  const app = await httpTestApp({
    imports: [
      ComponentsModule.forRoot({
        ...plane.ports(),
        blobs: new InMemoryBlobs(),
        inspector,
        fetcher,
        calls: new FakeCalls(),
        componentUsers: noUsers,
      }),
    ],
    http: plane.ports(),
    callers: { one: caller('u_1', 'o_1'), other: caller('u_3', 'o_2') },
  });
  closing.push(
    () => app.close(),
    () => plane.stop(),
  );
  const call = (method: 'get' | 'post', path: string, key = 'one') =>
    request(app.getHttpServer())[method](path).set('Authorization', `Bearer ${key}`);
  const save = (over: object = {}) =>
    call('post', '/v1/components').send({ component_code: codeOf(), files: { 'x.mjs': 'x' }, ...over });
  return { inspector, call, save, catalog: app.get<ComponentCatalog>(COMPONENT_CATALOG) };
};

describe('npm packages of a component', () => {
  // docs/reference/rest-api.md#component-packages
  it('are told with sizes, time and warnings, and listed as the lock pins them', async () => {
    const { call, save } = await world();
    const reply = await save();
    const { data, warnings } = reply.body as { data: { id: string; packages: unknown }; warnings: unknown };
    expect(data.packages).toEqual({
      count: 2,
      bytes: 1_234,
      install_ms: 56,
      cached: false,
      imported: [{ name: 'p', version: '1.0.0', license: 'MIT' }],
    });
    expect(warnings).toEqual([{ code: 'package_age', message: 'too young', path: 'p' }]);
    const listed = await call('get', `/v1/components/${data.id}/packages`);
    expect(listed.body).toEqual({
      data: ['p', 'v1.0.0'].map((name) => ({
        name,
        version: '1.0.0',
        integrity: `sha512-${name}1.0.0`,
        published_at: 1_700_000_000,
        license: name === 'p' ? 'MIT' : 'none stated',
        place: `node_modules/${name}`,
      })),
    });
    expect((await call('get', `/v1/components/${data.id}/packages`, 'other')).status).toBe(404);
  });

  it('are absent from a reply about code that imports none, and their list is empty', async () => {
    const { inspector, call, save } = await world();
    inspector.packageVersion = undefined;
    const { data } = (await save()).body as { data: { id: string } };
    expect(data).not.toHaveProperty('packages');
    expect((await call('get', `/v1/components/${data.id}/packages`)).body).toEqual({ data: [] });
  });

  // docs/reference/rest-api.md#refresh-packages
  it('stay for the same code, and change only with refresh_packages, which tells what changed', async () => {
    const { inspector, call, save, catalog } = await world();
    const { data } = (await save()).body as { data: { id: string } };
    const before = await catalog.resolve({ componentId: data.id }, CONTEXT);
    inspector.packageVersion = '2.0.0';
    expect((await save()).body).not.toHaveProperty('data.packages.changed');
    expect(inspector.inspected).toHaveLength(1);
    const refreshed = (await save({ refresh_packages: true })).body as { data: { id: string; packages: unknown } };
    expect(refreshed.data.id).toBe(data.id);
    expect(refreshed.data.packages).toMatchObject({
      changed: [{ name: 'p', from: '1.0.0', to: '2.0.0' }],
      added: [{ name: 'v2.0.0', version: '2.0.0' }],
      removed: [{ name: 'v1.0.0', version: '1.0.0' }],
    });
    const after = await catalog.resolve({ componentId: data.id }, CONTEXT);
    expect(after.bundleHash).not.toBe(before.bundleHash);
    expect(after.packages?.lockHash).not.toBe(before.packages?.lockHash);
    const listed = (await call('get', `/v1/components/${data.id}/packages`)).body as { data: { version: string }[] };
    expect(listed.data.map(({ version }) => version)).toEqual(['2.0.0', '2.0.0']);
    expect((await save({ refresh_packages: true })).body).toMatchObject({
      data: { packages: { changed: [], added: [], removed: [] } },
    });
  });

  // docs/reference/rest-api.md#package-users
  it('tell which components of the workspace use a package or one version, and no longer after a refresh', async () => {
    const { inspector, call, save } = await world();
    const usersOf = async (wanted: string, key = 'one') => {
      const reply = await call('get', `/v1/components?package=${encodeURIComponent(wanted)}`, key);
      return (reply.body as { data: { id: string; package: unknown }[] }).data;
    };
    const { data } = (await save()).body as { data: { id: string } };
    const other = (await save({ component_code: codeOf({ key: 'other' }) })).body as { data: { id: string } };
    const use = (id: string) => expect.objectContaining({ id, package: { name: 'p', version: '1.0.0' } });
    expect(await usersOf('p@1.0.0')).toEqual(expect.arrayContaining([use(data.id), use(other.data.id)]));
    expect(await usersOf('p')).toHaveLength(2);
    expect(await usersOf('p', 'other')).toEqual([]);
    expect(await usersOf('p@9.9.9')).toEqual([]);
    inspector.packageVersion = '2.0.0';
    await save({ refresh_packages: true });
    expect(await usersOf('p@1.0.0')).toEqual([use(other.data.id)]);
    expect(await usersOf('p@2.0.0')).toEqual([
      {
        id: data.id,
        name: expect.any(String),
        key: null,
        type: 'source',
        package: { name: 'p', version: '2.0.0' },
      },
    ]);
    expect(await usersOf('v1.0.0@1.0.0')).toHaveLength(1);
  });

  it.each([
    ['', 'missing'],
    ['?package=p@^1.0.0', 'range'],
    ['?package=a%20b', 'space'],
  ])('cannot be asked for with %j', async (query) => {
    const { call } = await world();
    const reply = await call('get', `/v1/components${query}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ details: { field: 'package' } });
  });

  // docs/reference/rest-api.md#refresh-packages
  it('of a component of the registry cannot be refreshed by a workspace that uses it', async () => {
    const { save, catalog } = await world();
    const { data } = (await save()).body as { data: { id: string } };
    const context = { ...CONTEXT, workspaceId: 'o_2' };
    await expect(catalog.resolve({ componentId: data.id, refreshPackages: true }, context)).rejects.toMatchObject({
      code: 'component.not_found',
    });
    const registry = { ...CONTEXT, workspaceId: REGISTRY_WORKSPACE };
    const listed = await catalog.resolve(
      { componentCode: codeOf({ key: 'listed' }), refreshPackages: false },
      registry,
    );
    await listed.keep();
    await expect(catalog.resolve({ componentId: listed.id, refreshPackages: true }, CONTEXT)).rejects.toMatchObject({
      code: 'component.package_unavailable',
      message: expect.stringContaining('registry'),
    });
    expect(await catalog.resolve({ componentId: listed.id }, CONTEXT)).toEqual({
      ...listed,
      keep: expect.any(Function),
      release: expect.any(Function),
    });
  });

  it('are refreshed by the id of a component, with the files that it was saved with', async () => {
    const { inspector, save, catalog } = await world();
    const { data } = (await save()).body as { data: { id: string } };
    inspector.packageVersion = '2.0.0';
    const before = await catalog.resolve({ componentId: data.id }, CONTEXT);
    const after = await catalog.resolve({ componentId: data.id, refreshPackages: true }, CONTEXT);
    expect(after.bundleHash).not.toBe(before.bundleHash);
    expect((await catalog.resolve({ componentId: data.id }, CONTEXT)).bundleHash).toBe(before.bundleHash);
    await after.keep();
    expect((await catalog.resolve({ componentId: data.id }, CONTEXT)).bundleHash).toBe(after.bundleHash);
    expect(inspector.inspected.at(-1)).toMatchObject({ files: { 'x.mjs': 'x' }, fileName: 'component.js' });
  });
});
