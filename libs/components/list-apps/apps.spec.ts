import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { type Caller } from '#libs/http/callers.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { dataOf, itemsOf } from '#libs/http/testing/replies.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { ComponentsModule, componentsContext } from '../index.js';
import { type ComponentSaved } from '../published.js';
import { registryEntryId } from '../registry/registry-entry.js';
import { FakeCalls, FakeInspector, InMemoryBlobs, noUsers } from '../testing/fakes.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const caller = (userId: string, ...workspaceIds: string[]): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds,
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
});

const world = async () => {
  const plane = await ControlPlane.start({ projections: componentsContext.projections });
  const fetcher = { fetch: () => Promise.reject(new Error('nothing is fetched')) };
  const app = await httpTestApp({
    imports: [
      ComponentsModule.forRoot({
        ...plane.ports(),
        blobs: new InMemoryBlobs(),
        inspector: new FakeInspector(),
        calls: new FakeCalls(),
        fetcher,
        componentUsers: noUsers,
      }),
    ],
    http: plane.ports(),
    callers: { one: caller('u_1', 'o_1'), both: caller('u_2', 'o_1', 'o_2'), other: caller('u_3', 'o_2') },
  });
  closing.push(
    () => app.close(),
    () => plane.stop(),
  );
  const file = new URL('../../../test/fixtures/events/ComponentSaved.v1.json', import.meta.url);
  const { data } = JSON.parse(await readFile(file, 'utf8')) as ComponentSaved;
  const saved = async (id: string, slugs: readonly string[], workspaceId = 'o_1') => {
    const configurableProps = [
      ...slugs.map((slug, n) => ({ name: `app${n}`, type: 'app', app: slug })),
      { name: 'text', type: 'string', app: 'no-app' },
    ];
    const event: ComponentSaved = { type: 'ComponentSaved', data: { ...data, componentId: id, configurableProps } };
    await plane.happened(`component-${id}`, event, workspaceId);
  };
  const get = (path: string, key = 'one') =>
    request(app.getHttpServer()).get(path).set('Authorization', `Bearer ${key}`);
  const slugs = async (path: string, key = 'one') => itemsOf(await get(path, key)).map(({ name_slug: slug }) => slug);
  return { plane, saved, get, slugs };
};

describe('apps', () => {
  // docs/reference/rest-api.md#apps
  it('are those that components of the workspace name, each once, by slug', async () => {
    const { saved, slugs, get } = await world();
    expect(await slugs('/v1/apps')).toEqual([]);
    await saved('sc_1', ['slack', 'github', 'slack']);
    await saved('sc_2', ['slack', 'airtable']);
    expect(await slugs('/v1/apps')).toEqual(['airtable', 'github', 'slack']);
    expect(await slugs('/v1/apps?q=HUB')).toEqual(['github']);
    const app = dataOf(await get('/v1/apps/slack'));
    expect(app).toEqual({ id: expect.stringMatching(/^app_\w{18}$/), name_slug: 'slack', name: 'slack' });
    expect(dataOf(await get(`/v1/apps/${app['id'] as string}`))).toEqual(app);
  });

  // docs/reference/rest-api.md#apps
  it('of another workspace are neither listed nor found', async () => {
    const { saved, slugs, get } = await world();
    await saved('sc_1', ['slack']);
    await saved('sc_2', ['secret_project'], 'o_2');
    expect(await slugs('/v1/apps')).toEqual(['slack']);
    const refused = await get('/v1/apps/secret_project');
    expect(refused.status).toBe(404);
    expect(refused.text).toContain('app_not_found');
    expect(await slugs('/v1/apps?workspace_id=o_1', 'both')).toEqual(['slack']);
    expect(await slugs('/v1/apps?workspace_id=o_2', 'both')).toEqual(['secret_project']);
  });

  it('of the registry are everybody’s, while it lists them', async () => {
    const { plane, slugs } = await world();
    const stream = `registry-${registryEntryId('rss-new')}`;
    const entry = { key: 'rss-new', componentId: 'sc_9', kind: 'source', name: 'New', version: '0.0.1', path: 'a.mjs' };
    const listed = { type: 'RegistryEntryListed', data: { ...entry, description: null, app: 'rss' } };
    await plane.happened(stream, listed, 'o_registry');
    expect(await slugs('/v1/apps')).toEqual(['rss']);
    expect(await slugs('/v1/apps', 'other')).toEqual(['rss']);
    await plane.happened(stream, { type: 'RegistryEntryRemoved', data: { key: 'rss-new' } }, 'o_registry');
    expect(await slugs('/v1/apps')).toEqual([]);
  });

  it('have pages in both directions', async () => {
    const { saved, get, slugs } = await world();
    await saved('sc_1', ['a', 'b', 'c', 'd', 'e']);
    const cursors = async (path: string) =>
      (await get(path)).body as { page_info: { total_count: number; start_cursor: string; end_cursor: string } };
    const { page_info: first } = await cursors('/v1/apps?limit=2');
    expect(first.total_count).toBe(5);
    const after = `/v1/apps?limit=2&after=${encodeURIComponent(first.end_cursor)}`;
    expect(await slugs(after)).toEqual(['c', 'd']);
    const { page_info: second } = await cursors(after);
    expect(await slugs(`/v1/apps?limit=2&after=${encodeURIComponent(second.end_cursor)}`)).toEqual(['e']);
    expect(await slugs(`/v1/apps?limit=1&before=${encodeURIComponent(second.start_cursor)}`)).toEqual(['b']);
    expect((await get('/v1/apps?after=c2xhY2s')).status).toBe(400);
  });
});
