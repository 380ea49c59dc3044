import { afterEach, describe, expect, it } from '@jest/globals';
import { dataOf, errorOf, type Json } from '#libs/http/testing/replies.js';
import { BlobTooLarge } from '#libs/kernel/blob-store.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { codeHashOf } from './domain/component-identity.js';
import { closeComponentWorlds, componentWorld as world } from './testing/component-world.js';
import { codeOf } from './testing/fakes.js';

afterEach(closeComponentWorlds);

const idOf = (id: Json | undefined): string => {
  if (typeof id !== 'string') throw new Error(`no id but ${JSON.stringify(id)}`);
  return id;
};

const CONTEXT: CommandContext = {
  commandId: 'cmd_1',
  correlationId: 'cmd_1',
  causationId: 'cmd_1',
  actor: { userId: 'u_1', apiKeyId: null },
  workspaceId: 'o_1',
};

describe('code and bundles of a workspace', () => {
  const LIMIT = 2_000;
  /** About 250 bytes of code, and a bundle of the same size. */
  const large = (salt: number): string => codeOf({ salt, description: 'x'.repeat(220) });
  const fill = async (limit: number) => {
    const made = await world(undefined, limit);
    const saved: string[] = [];
    for (let salt = 0; salt < 20; salt++) {
      const reply = await made.call('post', '/v1/components').send({ component_code: large(salt), org_id: 'o_1' });
      if (reply.status !== 200) return { ...made, saved, reply };
      saved.push(large(salt));
    }
    return { ...made, saved, reply: undefined };
  };

  it('count while they run before they are saved', async () => {
    const { catalog, call } = await world(undefined, LIMIT);
    const staged = [];
    for (let salt = 0; salt < 3; salt++) staged.push(await catalog.resolve({ componentCode: large(salt) }, CONTEXT));
    const save = () => call('post', '/v1/components').send({ component_code: large(4), org_id: 'o_1' });
    expect(errorOf(await save())).toMatchObject({ status: 409, code: 'limit_reached', details: { limit: LIMIT } });
    for (const component of staged) await component.release();
    expect((await save()).status).toBe(200);
  });

  it('are refused above the limit, which is named; saved code and other workspaces are still accepted', async () => {
    const { saved, reply, blobs, inspector, save } = await fill(LIMIT);
    expect(reply?.status).toBe(409);
    expect(reply?.body).toMatchObject({
      code: 'limit_reached',
      details: { limit: LIMIT },
    });
    const stored = [...blobs.texts.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(stored).toBeLessThanOrEqual(LIMIT);
    expect(stored).toBeGreaterThan(LIMIT - 2 * large(0).length - 50);
    // The code alone exceeds the limit, so it is not even built.
    const built = inspector.inspected.length;
    const huge = codeOf({ description: 'x'.repeat(600) });
    await expect(save(huge)).rejects.toThrow('no data in 409');
    expect(inspector.inspected).toHaveLength(built);
    expect(await save(saved[0] ?? '')).toMatchObject({ code: saved[0] });
    expect(await save(huge, 'other')).toMatchObject({ code: huge });
  });

  it('are all accepted under a limit that is never reached', async () => {
    const { saved, reply } = await fill(1e9);
    expect([saved.length, reply]).toEqual([20, undefined]);
  });
});

describe('POST /v1/components', () => {
  it('answers 200 with the component, absent values as null', async () => {
    const { call } = await world();
    const code = codeOf({ name: 'Ünïcode', configurableProps: [{ name: 'url', type: 'string', label: 'Address' }] });
    const reply = await call('post', '/v1/components').send({ component_code: code });
    expect(reply).toMatchObject({ status: 200, headers: { 'x-sluice-position': expect.stringMatching(/^\d{20}$/) } });
    expect(reply.body).toEqual({
      data: {
        id: expect.stringMatching(/^sc_[0-9a-z]{18}$/),
        revision: 0,
        code,
        code_hash: codeHashOf(code),
        name: 'Ünïcode',
        version: '',
        key: null,
        type: 'source',
        description: null,
        annotations: null,
        url: null,
        configurable_props: [{ name: 'url', type: 'string', label: 'Address' }],
        created_at: 1_700_000_000,
        updated_at: 1_700_000_000,
      },
    });
  });

  it('takes the code from the query too, and the body wins', async () => {
    const { call } = await world();
    const fromQuery = await call('post', '/v1/components').query({ component_code: codeOf({ name: 'query' }) });
    expect(dataOf(fromQuery)['name']).toBe('query');
    const both = await call('post', '/v1/components')
      .query({ component_code: codeOf({ name: 'query' }) })
      .send({ component_code: codeOf({ name: 'body' }) });
    expect(dataOf(both)['name']).toBe('body');
  });

  it('prefers the code, and keeps the URL as a note', async () => {
    const { call, inspector } = await world();
    const url = 'https://example.com/a/component.ts';
    const reply = await call('post', '/v1/components').send({ component_code: codeOf(), component_url: url });
    expect(dataOf(reply)['url']).toBe(url);
    expect(inspector.inspected[0]?.fileName).toBe('component.ts');
  });

  it('reads code without a name as JavaScript, then as TypeScript, and reports the first failure', async () => {
    const { call, inspector } = await world();
    const error = errorOf(await call('post', '/v1/components').send({ component_code: 'neither' }));
    expect(inspector.inspected.map(({ fileName }) => fileName)).toEqual(['component.js', 'component.ts']);
    expect(error).toMatchObject({ status: 400, code: 'invalid_component', details: { name: 'SyntaxError' } });
    inspector.asTypeScript.set('let a: number', codeOf({ name: 'Typed' }));
    expect(dataOf(await call('post', '/v1/components').send({ component_code: 'let a: number' }))['name']).toBe(
      'Typed',
    );
    const named = { component_code: 'let b: number', component_url: 'https://example.com/b.mjs' };
    expect((await call('post', '/v1/components').send(named)).status).toBe(400);
    expect(inspector.inspected.at(-1)?.fileName).toBe('b.mjs');
  });

  it('gives the same component for the same code, with a fresh updated_at, and evaluates it once', async () => {
    const { plane, save, inspector } = await world();
    const first = await save(codeOf({ name: 'Same' }));
    plane.clock.time += 5_000;
    const second = await save(codeOf({ name: 'Same' }));
    expect(second).toEqual({ ...first, updated_at: Number(first['updated_at']) + 5, revision: 1 });
    expect(inspector.inspected).toHaveLength(1);
  });

  it('gives one component when the same code is posted 12 times at once', async () => {
    const { plane, save, inspector } = await world();
    const saved = await Promise.all(Array.from({ length: 12 }, () => save(codeOf({ name: 'Rush' }))));
    expect(new Set(saved.map(({ id }) => id)).size).toBe(1);
    const events = await plane.eventsOf(`component-${idOf(saved[0]?.['id'])}`);
    expect(events.filter(({ type }) => type === 'ComponentSaved')).toHaveLength(1);
    expect(inspector.inspected).toHaveLength(1);
  });

  it('replaces {{ts}} in the version by the time of saving', async () => {
    const { save } = await world();
    expect((await save(codeOf({ version: '0.0.{{ts}}' })))['version']).toMatch(/^0\.0\.17\d{11}$/);
  });

  it('stores code and bundle in the blob store before the event', async () => {
    const { plane, blobs, save } = await world();
    let blobsAtAppend = 0;
    plane.events.onNextAppend(async () => {
      blobsAtAppend = blobs.texts.size;
    });
    await save(codeOf());
    expect(blobsAtAppend).toBe(2);
  });

  it('accepts further files, which are part of the identity of the component', async () => {
    const { call, inspector } = await world();
    const send = async (text: string) =>
      dataOf(await call('post', '/v1/components').send({ component_code: codeOf(), files: { 'lib/a.mjs': text } }))[
        'id'
      ];
    expect(await send('one')).not.toBe(await send('two'));
    expect(inspector.inspected[0]?.files).toEqual({ 'lib/a.mjs': 'one' });
  });

  it('takes the path of the code among its files, as part of its identity', async () => {
    const { call, inspector } = await world();
    const save = async (name: object) =>
      dataOf(await call('post', '/v1/components').send({ component_code: codeOf(), files: { 'x.mjs': '' }, ...name }))[
        'id'
      ];
    const ids = [await save({}), await save({ file_name: 'a/b.mjs' }), await save({ file_name: 'a/c.ts' })];
    expect(new Set(ids).size).toBe(3);
    expect(await save({ file_name: 'a/b.mjs' })).toBe(ids[1]);
    expect(inspector.inspected.map(({ fileName }) => fileName)).toEqual(['component.js', 'a/b.mjs', 'a/c.ts']);
  });

  it.each([
    ['../a.mjs', 'leads out of a folder'],
    ['/a.mjs', 'is absolute'],
    ['a\\b.mjs', 'holds a backslash'],
    ['a.json', 'does not end in .mjs'],
    ['', 'names no file'],
    ['./x.mjs', 'is among files too'],
    ['__proto__/a.mjs', 'holds the reserved name'],
  ])('refuses the file_name %j', async (name, reason) => {
    const { call } = await world();
    const body = { component_code: codeOf(), files: { 'x.mjs': '' }, file_name: name };
    const error = errorOf(await call('post', '/v1/components').send(body));
    expect(error).toMatchObject({ status: 400, code: 'invalid_parameter', details: { field: 'file_name' } });
    expect(error.error).toContain(reason);
  });

  it.each([
    [{}, 400, 'component_reference_missing', 'component_code'],
    [{ component_code: '' }, 400, 'component_reference_missing', 'component_code'],
    [{ component_code: 5 }, 400, 'invalid_parameter', 'component_code'],
    [{ component_code: 'throw new Error()' }, 400, 'invalid_component', undefined],
    [{ component_code: codeOf(), files: { 'a.mjs': 1 } }, 400, 'invalid_parameter', 'files["a.mjs"]'],
    [{ component_code: codeOf({ kind: 'app' }) }, 400, 'component_not_deployable', undefined],
  ])('refuses %j with %i %s', async (body, status, code, field) => {
    const { call } = await world();
    const error = errorOf(await call('post', '/v1/components').send(body));
    expect(error).toMatchObject({ status, code });
    if (field !== undefined) expect(error.details['field']).toBe(field);
  });

  it.each([
    ['code', { component_code: 'x'.repeat(1_001) }, 1_000, 1_001],
    ['code in bytes of UTF-8', { component_code: 'é'.repeat(501) }, 1_000, 1_002],
    ['a file', { component_code: codeOf(), files: { 'a.mjs': 'x'.repeat(1_200) } }, 1_000, 1_200],
    ['files', { component_code: codeOf(), files: { a: '', b: '', c: '' } }, 2, 3],
    [
      'all together',
      { component_code: 'x'.repeat(800), files: { a: 'x'.repeat(900), b: 'x'.repeat(900) } },
      2_000,
      2_600,
    ],
  ])('refuses %s above the limit with 413 that names limit and size', async (_, body, limit, actual) => {
    const { call } = await world();
    const error = errorOf(await call('post', '/v1/components').send(body));
    expect(error).toMatchObject({ status: 413, code: 'component_too_large', details: { limit, actual } });
    expect(error.error).toContain(String(actual));
  });

  it('refuses a bundle that the engine cannot store with 413 that names limit and size', async () => {
    const { call, catalog, blobs } = await world();
    blobs.put = blobs.stage = (): Promise<never> => Promise.reject(new BlobTooLarge(20, 16));
    const error = errorOf(await call('post', '/v1/components').send({ component_code: codeOf() }));
    expect(error).toMatchObject({ status: 413, code: 'component_too_large', details: { limit: 16, actual: 20 } });
    await expect(catalog.resolve({ componentCode: codeOf() }, CONTEXT)).rejects.toMatchObject({
      code: 'component.too_large',
      message: 'bundle of the component: 20 bytes, the limit is 16 bytes; make it smaller',
    });
  });

  it('fetches the code at component_url and its imports', async () => {
    const { call, inspector } = await world({
      fetch: async (url) => ({
        code: codeOf({ name: url }),
        fileName: 'a/main.mjs',
        files: { 'a/lib.mjs': '' },
        finalUrl: `${url}?raw`,
      }),
    });
    const reply = await call('post', '/v1/components').send({ component_url: 'https://example.com/c.mjs' });
    expect(dataOf(reply)).toMatchObject({ name: 'https://example.com/c.mjs', url: 'https://example.com/c.mjs' });
    expect(inspector.inspected[0]).toMatchObject({ fileName: 'a/main.mjs', files: { 'a/lib.mjs': '' } });
  });

  it('answers 422 when the URL cannot be used, and names imports that were not found', async () => {
    const refusing = await world({
      fetch: (url) => Promise.reject(new DomainError('component.url_unusable', `${url} answered 404`, { status: 404 })),
    });
    expect(
      errorOf(await refusing.call('post', '/v1/components').send({ component_url: 'https://e.com/x' })),
    ).toMatchObject({ status: 422, code: 'component_url_unusable' });
    const broken = await world({
      fetch: async (url) => ({
        code: 'no JSON',
        fileName: 'a.mjs',
        finalUrl: url,
        missing: ['https://e.com/b answered 404'],
      }),
    });
    const error = errorOf(await broken.call('post', '/v1/components').send({ component_url: 'https://e.com/x' }));
    expect(error.error).toMatch(/Not found: https:\/\/e\.com\/b answered 404/);
  });

  it('requires the workspace when the user has several', async () => {
    const { call } = await world();
    const error = errorOf(await call('post', '/v1/components', 'both').send({ component_code: codeOf() }));
    expect(error).toMatchObject({ status: 400, error: 'please specify a valid workspace' });
  });
});
