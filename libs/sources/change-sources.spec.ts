import { afterEach, describe, expect, it } from '@jest/globals';
import { codeOf } from '#libs/components/testing/fakes.js';
import { dataOf, errorOf, itemsOf, type JsonObject } from '#libs/http/testing/replies.js';
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

describe('PUT /v1/sources/{id}', () => {
  it('merges props, keeps id, endpoint and a secret that comes back masked, and drops the replaced one', async () => {
    const { call, create, plane } = await world();
    const source = await create({ component_code: HOOKED, configured_props: { repo: 'a', token: 'old' } });
    const props = source['configured_props'] as JsonObject;
    const masked = dataOf(
      await call('put', `/v1/sources/${textOf(source['id'])}`).send({ configured_props: { ...props, repo: 'b' } }),
    );
    expect(masked).toMatchObject({ id: source['id'], user_id: 'u_1', configured_props: { ...props, repo: 'b' } });
    expect([...plane.vault.secrets.values()].map(({ plaintext }) => plaintext)).toEqual(['old']);
    const changed = await call('put', '/v1/sources/git-hub').send({ configured_props: { token: 'new', limit: null } });
    expect(dataOf(changed)['configured_props']).toEqual({ ...props, repo: 'b' });
    expect([...plane.vault.secrets.values()].map(({ plaintext }) => plaintext)).toEqual(['new']);
    expect(dataOf(await call('get', '/v1/sources/git-hub'))['configured_props']).toEqual({ ...props, repo: 'b' });
  });

  it('keeps the stored timer when the code changes its default', async () => {
    const { call, create } = await world();
    const timed = (intervalSeconds: number, name = 'timer') =>
      codeOf({ configurableProps: [{ name, type: '$.interface.timer', default: { intervalSeconds } }] });
    const id = textOf((await create({ component_code: timed(900) }))['id']);
    const put = async (body: object) => dataOf(await call('put', `/v1/sources/${id}`).send(body))['configured_props'];
    expect(await put({ component_code: timed(60) })).toEqual({ timer: { cron: null, interval_seconds: 900 } });
    expect(await put({ configured_props: { timer: { cron: '0 9 * * *', timezone: 'Europe/Berlin' } } })).toEqual({
      timer: { cron: '0 9 * * *', interval_seconds: null, timezone: 'Europe/Berlin' },
    });
    expect(await put({ configured_props: { timer: null } })).toEqual({ timer: { cron: null, interval_seconds: 60 } });
    expect(await put({ component_code: timed(30, 'other') })).toEqual({ other: { cron: null, interval_seconds: 30 } });
  });

  // docs/reference/rest-api.md#source-update-active
  it('is active when `active` is left out, and accepts flags as text', async () => {
    const { call, create } = await world();
    const id = textOf((await create({ component_code: codeOf() }))['id']);
    const put = async (body: object) => dataOf(await call('put', `/v1/sources/${id}`).send(body))['active'];
    expect(await put({ active: false })).toBe(false);
    expect(await put({ name: 'Other' })).toBe(true);
    expect(await put({ active: 'false' })).toBe(false);
    expect(dataOf(await call('get', `/v1/sources/${id}`))['active']).toBe(false);
  });

  it('finds the source under its new slug only', async () => {
    const { call, create } = await world();
    await create({ component_code: codeOf(), name: 'Before' });
    await call('put', '/v1/sources/before').send({ name: 'After' }).expect(200);
    expect((await call('get', '/v1/sources/before')).status).toBe(404);
    expect(dataOf(await call('get', '/v1/sources/after'))['name']).toBe('After');
  });

  // docs/reference/rest-api.md#source-update-reference
  it('refuses an empty change, an action, a wrong prop and a stale one', async () => {
    const { call, create } = await world();
    const source = await create({ component_code: HOOKED, configured_props: { repo: 'a' } });
    const put = async (body: object) => errorOf(await call('put', `/v1/sources/${textOf(source['id'])}`).send(body));
    expect(await put({})).toMatchObject({ status: 400, code: 'component_reference_missing' });
    expect(await put({ component_code: codeOf({ kind: 'action' }) })).toMatchObject({
      code: 'component_not_deployable',
    });
    expect(await put({ configured_props: { repo: null } })).toMatchObject({ status: 400, code: 'missing_prop' });
    expect(await put({ name: 'x', if_updated_at: 5 })).toMatchObject({ status: 409, code: 'stale_update' });
    expect(await put({ name: 'x', if_updated_at: 'soon' })).toMatchObject({ status: 400, code: 'invalid_parameter' });
    expect(dataOf(await call('get', `/v1/sources/${textOf(source['id'])}`))).toMatchObject({
      updated_at: source['updated_at'],
      name: source['name'],
    });
  });

  it('answers one of two concurrent updates with 409', async () => {
    const { call, create, hooks } = await world();
    const id = textOf((await create({ component_code: HOOKED, configured_props: { repo: 'a' } }))['id']);
    let second: Promise<unknown> = Promise.resolve();
    hooks.during = async () => {
      hooks.during = async () => undefined;
      const reply = await call('put', `/v1/sources/${id}`).send({ configured_props: { repo: 'c' } });
      second = Promise.resolve(errorOf(reply));
    };
    const first = await call('put', `/v1/sources/${id}`).send({ configured_props: { repo: 'b' } });
    expect(first.status).toBe(200);
    expect(await second).toMatchObject({ status: 409, code: 'source_busy' });
    expect(dataOf(await call('get', `/v1/sources/${id}`))).toMatchObject({ configured_props: { repo: 'b' } });
  });
});

describe('DELETE /v1/sources/{id}', () => {
  it('answers 204 without a body, and the source is gone at once', async () => {
    const { call, create, topics, plane } = await world();
    const source = await create({ component_code: HOOKED, configured_props: { repo: 'a', token: 't' } });
    const id = textOf(source['id']);
    const reply = await call('delete', `/v1/sources/${id}`).type('application/json');
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect((await call('get', `/v1/sources/${id}`)).status).toBe(404);
    expect(itemsOf(await call('get', '/v1/users/me/sources'))).toEqual([]);
    expect([topics.sources.size, plane.vault.secrets.size]).toEqual([0, 0]);
    expect((await call('delete', `/v1/sources/${id}`)).status).toBe(404);
  });

  it('answers 422 when deactivate throws, and succeeds with ignore_hook_errors', async () => {
    const { call, create, hooks } = await world();
    const id = textOf((await create({ component_code: HOOKED, configured_props: { repo: 'a' } }))['id']);
    hooks.on('deactivate', threw('no'));
    const refused = await call('delete', `/v1/sources/${id}`);
    const message = 'hook deactivate failed: TypeError: no (send ignore_hook_errors: true to go on all the same)';
    expect([refused.status, refused.body]).toMatchObject([422, { details: { message } }]);
    expect((await call('get', `/v1/sources/${id}`)).status).toBe(200);
    expect((await call('delete', `/v1/sources/${id}?ignore_hook_errors=true`)).status).toBe(204);
  });
});

describe('POST /v1/sources/{id}/run', () => {
  it('answers 202 with the invocation, or 200 with the observations', async () => {
    const { call, create, runs } = await world();
    const id = textOf((await create({ component_code: codeOf() }))['id']);
    const started = await call('post', `/v1/sources/${id}/run`).send({ event: { a: 1 } });
    expect([started.status, started.body]).toEqual([202, { data: { id: 'inv_1' } }]);
    const waited = await call('post', `/v1/sources/hello-world/run?wait=true`);
    expect([waited.status, waited.body]).toEqual([
      200,
      {
        data: {
          id: 'inv_1',
          ended: true,
          observations: [{ k: 'console.log', ts: 1, msg: 'ran' }],
          ms: null,
          status: null,
          emits: [],
        },
      },
    ]);
    expect(runs).toEqual([
      [id, 'o_1', { a: 1 }, false],
      [id, 'o_1', undefined, true],
    ]);
  });

  it('does not run an inactive source', async () => {
    const { call, create, runs } = await world();
    const id = textOf((await create({ component_code: codeOf() }))['id']);
    await call('put', `/v1/sources/${id}`).send({ active: false });
    expect(errorOf(await call('post', `/v1/sources/${id}/run`))).toMatchObject({
      status: 409,
      code: 'source_inactive',
    });
    expect(runs).toEqual([]);
  });
});
