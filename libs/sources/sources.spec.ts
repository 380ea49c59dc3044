import { afterEach, describe, expect, it } from '@jest/globals';
import { codeOf } from '#libs/components/testing/fakes.js';
import { dataOf, errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { threw } from './testing/fakes.js';
import { HOOKED, sourcesWorld, textOf } from './testing/sources-world.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
const world = async () => {
  const made = await sourcesWorld();
  closing.push(made.close);
  return made;
};

describe('POST /v1/sources', () => {
  it('answers 200 with the fields of a source', async () => {
    const { call, plane, view } = await world();
    const reply = await call('post', '/v1/sources/').send({
      component_code: HOOKED,
      configured_props: { repo: 'a/b', token: 'hush', unknown: 1 },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers['x-sluice-position']).toMatch(/^\d{20}$/);
    const key: unknown = expect.stringMatching(/^e[0-9a-z]{15}$/);
    expect(reply.body).toEqual({
      data: {
        id: expect.stringMatching(/^dc_[0-9a-z]{18}$/),
        user_id: 'u_1',
        revision: 1,
        owner_id: 'o_1',
        component_id: expect.stringMatching(/^sc_/),
        component_key: 'git-hub',
        configured_props: {
          http: { endpoint_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:3000\/h\/e[0-9a-z]{15}$/), key },
          timer: { cron: null, interval_seconds: 900 },
          repo: 'a/b',
          token: '********',
          limit: 30,
        },
        active: true,
        created_at: 1_700_000_000,
        updated_at: 1_700_000_000,
        name: 'git-hub',
        name_slug: 'git-hub',
      },
    });
    // Only the vault holds the secret.
    expect([...plane.vault.secrets.values()]).toEqual([{ workspaceId: 'o_1', plaintext: 'hush' }]);
    const log = JSON.stringify(await plane.events.readAll('0'.padStart(20, '0'), 100), (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(log).not.toContain('hush');
    const entry = view.find(textOf(dataOf(reply)['id']));
    expect(entry).toMatchObject({ workspaceId: 'o_1', status: 'active', active: true });
    expect(entry?.definition.props).toContainEqual({ kind: 'db', prop: 'db' });
  });

  it('deploys by id, by code and by key, in this order', async () => {
    const { call, create } = await world();
    const saved = dataOf(
      await call('post', '/v1/components').send({ component_code: codeOf({ key: 'k', name: 'Saved' }) }),
    );
    const id = textOf(saved['id']);
    expect(await create({ component_id: id, component_code: codeOf({ name: 'x' }), key: 'y' })).toMatchObject({
      component_id: id,
    });
    expect(await create({ component_code: codeOf({ name: 'x' }), key: 'k' })).toMatchObject({ name: 'x' });
    expect(await create({ key: 'k' })).toMatchObject({ component_id: id });
    expect(await create({ component_key: 'k' })).toMatchObject({ component_id: id });
  });

  it('counts up the slug, and frees it after a deletion', async () => {
    const { call, create } = await world();
    const code = codeOf();
    const slugs = [];
    const ids = [];
    for (let i = 0; i < 3; i++) {
      const source = await create({ component_code: code, name: 'My Source' });
      slugs.push(source['name_slug']);
      ids.push(textOf(source['id']));
      expect(source['name']).toBe('My Source');
    }
    expect(slugs).toEqual(['my-source', 'my-source-1', 'my-source-2']);
    await call('delete', `/v1/sources/${ids[1] ?? ''}`).expect(204);
    expect((await create({ component_code: code, name: 'My Source' }))['name_slug']).toBe('my-source-1');
  });

  // docs/reference/rest-api.md#source-create-component
  it.each<[string, object, number, string, object]>([
    ['no component', {}, 400, 'component_reference_missing', { field: 'component_id' }],
    ['empty code', { component_code: '' }, 400, 'component_reference_missing', { field: 'component_id' }],
    ['an unknown one', { component_id: 'sc_none' }, 404, 'component_not_found', { id: 'sc_none' }],
    ['broken code', { component_code: 'not JSON' }, 400, 'invalid_component', {}],
    [
      'an action',
      { component_code: codeOf({ kind: 'action' }) },
      400,
      'component_not_deployable',
      { actual: 'action' },
    ],
    ['a missing prop', { component_code: HOOKED }, 400, 'missing_prop', { prop: 'repo' }],
    [
      'an invalid prop',
      { component_code: HOOKED, configured_props: { repo: 'a', limit: 101 } },
      400,
      'invalid_prop',
      { prop: 'limit', limit: 100, actual: 101 },
    ],
    [
      'props that are not an object',
      { component_code: HOOKED, configured_props: [1] },
      400,
      'invalid_parameter',
      { field: 'configured_props' },
    ],
    ['a name that is not text', { component_code: codeOf(), name: 5 }, 400, 'invalid_parameter', { field: 'name' }],
    [
      'a long name',
      { component_code: codeOf(), name: 'x'.repeat(256) },
      400,
      'invalid_parameter',
      { field: 'name', actual: 256 },
    ],
    [
      'an invalid flag',
      { component_code: codeOf(), emit_on_deploy: 'maybe' },
      400,
      'invalid_parameter',
      { field: 'emit_on_deploy' },
    ],
  ])('refuses %s, names its field and leaves no component behind', async (_, body, status, code, details) => {
    const { call, plane, topics } = await world();
    const before = await plane.events.lastPosition();
    expect(errorOf(await call('post', '/v1/sources').send(body))).toMatchObject({ status, code, details });
    expect(topics.sources.size).toBe(0);
    expect(itemsOf(await call('get', '/v1/users/me/sources'))).toEqual([]);
    expect(await plane.events.lastPosition()).toEqual(before);
  });

  it('answers 422 with the observations when a hook throws, and the source is not listed', async () => {
    const { call, hooks } = await world();
    hooks.on('activate', threw('boom'));
    const reply = await call('post', '/v1/sources').send({ component_code: HOOKED, configured_props: { repo: 'a' } });
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({
      error: 'observation error',
      err: null,
      code: 'hook_failed',
      observations: [
        { k: 'hook', h: 'deploy' },
        { k: 'hook', h: 'activate' },
        { k: 'console.log', msg: 'about to fail' },
        { k: 'error', err: { name: 'TypeError', message: 'boom' } },
      ],
    });
    expect(itemsOf(await call('get', '/v1/users/me/sources'))).toEqual([]);
  });

  // docs/reference/rest-api.md#source-deploy-listing
  it('cannot be read or listed while it deploys', async () => {
    const { call, hooks } = await world();
    const seen: number[] = [];
    hooks.during = async ({ sourceId }) => {
      seen.push((await call('get', `/v1/sources/${sourceId}`)).status);
      seen.push(itemsOf(await call('get', '/v1/users/me/sources')).length);
    };
    const created = await call('post', '/v1/sources').send({ component_code: HOOKED, configured_props: { repo: 'a' } });
    expect(created.status).toBe(200);
    expect(seen).toEqual([404, 0, 404, 0]);
  });

  it('takes its workspace from org_id', async () => {
    const { call, create } = await world();
    expect(await create({ component_code: codeOf(), org_id: 'o_2' }, 'both')).toMatchObject({ owner_id: 'o_2' });
    expect(errorOf(await call('post', '/v1/sources', 'both').send({ component_code: codeOf() })).error).toBe(
      'please specify a valid workspace',
    );
  });
});

describe('GET /v1/sources/{id}', () => {
  it('takes an id or a name slug, and answers without user_id', async () => {
    const { call, create } = await world();
    const source = await create({ component_code: HOOKED, configured_props: { repo: 'a', token: 't' } });
    const { user_id: _, ...expected } = source;
    expect(dataOf(await call('get', `/v1/sources/${textOf(source['id'])}`))).toEqual(expected);
    expect(dataOf(await call('get', `/v1/sources/git-hub`))).toEqual(expected);
    expect(dataOf(await call('get', `/v1/sources/git-hub?org_id=o_1`, 'both'))).toEqual(expected);
    // A slug is not looked up in whatever workspace the caller was added to.
    expect(errorOf(await call('get', `/v1/sources/git-hub`, 'both'))).toMatchObject({
      status: 400,
      code: 'workspace_required',
    });
  });

  it('does not reveal sources of other workspaces in any operation', async () => {
    const { call, create } = await world();
    const id = textOf((await create({ component_code: codeOf() }))['id']);
    for (const name of [id, 'hello-world', 'dc_none', 'none']) {
      for (const reply of [
        await call('get', `/v1/sources/${name}`, 'other'),
        await call('put', `/v1/sources/${name}`, 'other').send({ active: false }),
        await call('delete', `/v1/sources/${name}`, 'other'),
        await call('post', `/v1/sources/${name}/run`, 'other').send({}),
      ]) {
        expect(errorOf(reply)).toMatchObject({ status: 404, code: 'source_not_found' });
      }
    }
    expect((await call('get', `/v1/sources/${id}`)).status).toBe(200);
  });
});

describe('lists of sources', () => {
  it('are newest first and paged, by user and by workspace', async () => {
    const { call, create } = await world();
    const code = codeOf();
    for (let i = 0; i < 12; i++) await create({ component_code: code, name: `n${i}` });
    await create({ component_code: code, name: 'of another', org_id: 'o_1' }, 'both');
    await create({ component_code: code, name: 'elsewhere', org_id: 'o_2' }, 'both');
    const first = await call('get', '/v1/users/me/sources/');
    expect(first.body).toMatchObject({ page_info: { total_count: 12, count: 10 } });
    expect(itemsOf(first).map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, i) => `n${11 - i}`));
    expect(itemsOf(first)[0]).not.toHaveProperty('user_id');
    const cursor = (first.body as { page_info: { end_cursor: string } }).page_info.end_cursor;
    expect(Buffer.from(cursor, 'base64').toString()).toBe(itemsOf(first).at(-1)?.['id']);
    const second = await call('get', '/v1/users/me/sources').query({ after: cursor });
    expect(itemsOf(second).map(({ name }) => name)).toEqual(['n1', 'n0']);

    for (const path of ['/v1/orgs/o_1/sources', '/v1/workspaces/o_1/sources']) {
      expect((await call('get', path)).body).toMatchObject({ page_info: { total_count: 13 } });
    }
    expect(itemsOf(await call('get', '/v1/users/me/sources', 'both')).map(({ name }) => name)).toEqual([
      'elsewhere',
      'of another',
    ]);
    expect((await call('get', '/v1/orgs/o_2/sources')).status).toBe(403);
    expect((await call('get', '/v1/orgs/o_9/sources')).status).toBe(404);
  });

  it('are empty without sources', async () => {
    const { call } = await world();
    expect((await call('get', '/v1/users/me/sources')).body).toEqual({
      page_info: { total_count: 0, count: 0, start_cursor: null, end_cursor: null },
      data: [],
    });
  });
});
