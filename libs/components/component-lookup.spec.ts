import { afterEach, describe, expect, it } from '@jest/globals';
import { dataOf, errorOf, type Json } from '#libs/http/testing/replies.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { closeComponentWorlds, componentWorld as world } from './testing/component-world.js';
import { codeOf } from './testing/fakes.js';

afterEach(closeComponentWorlds);

const context = (workspaceId: string, commandId = 'cmd-spec'): CommandContext => ({
  commandId,
  correlationId: commandId,
  causationId: commandId,
  actor: { userId: 'u_1', apiKeyId: 'key_1' },
  workspaceId,
});

const idOf = (id: Json | undefined): string => {
  if (typeof id !== 'string') throw new Error(`no id but ${JSON.stringify(id)}`);
  return id;
};

describe('GET /v1/components/{key or id}', () => {
  it('finds by id and by key, also one with encoded characters, with the code', async () => {
    const { call, save } = await world();
    const saved = await save(codeOf({ key: 'a/b c&d' }));
    expect(dataOf(await call('get', `/v1/components/${idOf(saved['id'])}`))).toEqual(saved);
    expect(dataOf(await call('get', '/v1/components/a%2Fb%20c%26d'))).toEqual(saved);
  });

  it('gives the newest version of a key by semantic versioning, regardless of the time of saving', async () => {
    const { call, save } = await world();
    await save(codeOf({ key: 'k', version: '0.10.0' }));
    await save(codeOf({ key: 'k', version: '0.9.0' }));
    expect(dataOf(await call('get', '/v1/components/k'))['version']).toBe('0.10.0');
  });

  // docs/reference/rest-api.md#component-key-lookup
  it('gives the component saved last when versions are equal', async () => {
    const { call, plane, save } = await world();
    const first = await save(codeOf({ key: 'k', name: 'first' }));
    plane.clock.time += 1_000;
    await save(codeOf({ key: 'k', name: 'second' }));
    expect(dataOf(await call('get', '/v1/components/k'))['name']).toBe('second');
    plane.clock.time += 1_000;
    await save(codeOf({ key: 'k', name: 'first' }));
    expect(dataOf(await call('get', '/v1/components/k'))['id']).toBe(first['id']);
  });

  it('finds the newest among more than one page of components', async () => {
    const { call, plane, save } = await world();
    await save(codeOf({ key: 'k', version: '9.0.0' }));
    for (let i = 0; i < 120; i++) await save(codeOf({ key: 'k', version: `1.0.${i}` }));
    await plane.idle();
    expect(dataOf(await call('get', '/v1/components/k'))['version']).toBe('9.0.0');
  });

  it('does not show a component of another workspace', async () => {
    const { call, save } = await world();
    const saved = await save(codeOf({ key: 'mine' }));
    for (const path of [idOf(saved['id']), 'mine', 'unknown', 'sc_unknown']) {
      expect(errorOf(await call('get', `/v1/components/${path}`, 'other'))).toMatchObject({
        status: 404,
        code: 'component_not_found',
      });
    }
    expect((await call('get', '/v1/components/mine?org_id=o_1', 'both')).status).toBe(200);
  });

  // docs/reference/rest-api.md#component-key-lookup #acting-workspace
  it('looks a key up in the workspace in which the call acts alone, on every route that takes one', async () => {
    const { call, save } = await world();
    const ours = await save(codeOf({ key: 'k', version: '1.0.0' }));
    const theirs = await save(codeOf({ key: 'k', version: '9.0.0' }), 'other');
    await save(codeOf({ key: 'theirs', version: '9.0.0' }), 'other');
    expect(dataOf(await call('get', '/v1/components/k', 'added'))['id']).toBe(ours['id']);
    expect(dataOf(await call('get', '/v1/components/k?org_id=o_2', 'added'))['id']).toBe(theirs['id']);
    // An id finds every component that the caller may read.
    expect(dataOf(await call('get', `/v1/components/${idOf(theirs['id'])}`, 'added'))['id']).toBe(theirs['id']);
    for (const [key, status, code] of [
      ['added', 404, 'component_not_found'],
      ['both', 400, 'workspace_required'],
    ] as const) {
      for (const reply of [
        await call('get', '/v1/components/theirs', key),
        await call('get', '/v1/components/theirs/packages', key),
        await call('post', '/v1/components/configure', key).send({ id: 'theirs', prop_name: 'p' }),
        await call('post', '/v1/components/props', key).send({ id: 'theirs' }),
      ])
        expect(errorOf(reply)).toMatchObject({ status, code });
    }
  });

  // docs/reference/rest-api.md#component-reserved-words
  it.each(['registry/some-key', 'registry'])('keeps %s for the registry', async (path) => {
    const { call, save } = await world();
    await save(codeOf({ key: 'registry' }));
    expect(errorOf(await call('get', `/v1/components/${path}`))).toMatchObject({ status: 404 });
  });
});

describe('ComponentCatalog', () => {
  it('prefers id over code over key, and saves given code once it is kept', async () => {
    const { catalog, save } = await world();
    const saved = await save(codeOf({ key: 'k', hooks: ['activate'], dedupe: 'unique' }));
    const id = idOf(saved['id']);
    const byId = await catalog.resolve(
      { componentId: id, componentCode: codeOf({ name: 'x' }), key: 'y' },
      context('o_1'),
    );
    expect(byId).toMatchObject({ id, key: 'k', kind: 'source', hooks: ['activate'], dedupe: 'unique' });
    const byCode = await catalog.resolve({ componentCode: codeOf({ name: 'x' }), key: 'k' }, context('o_1'));
    expect(byCode.name).toBe('x');
    await expect(catalog.resolve({ componentId: byCode.id }, context('o_1'))).rejects.toMatchObject({
      code: 'component.not_found',
    });
    await byCode.keep();
    expect(await catalog.resolve({ componentId: byCode.id }, context('o_1'))).toMatchObject({
      name: 'x',
      bundleHash: byCode.bundleHash,
    });
    expect((await catalog.resolve({ key: 'k' }, context('o_1'))).id).toBe(id);
  });

  it('keeps the code of a step apart from the same code of a source', async () => {
    const { catalog, inspector } = await world();
    const code = codeOf({});
    const source = await catalog.resolve({ componentCode: codeOf({ salt: 1 }) }, context('o_1'));
    const named = await catalog.resolve({ componentCode: code, fileName: 'a.js' }, context('o_1'));
    await named.keep();
    const step = await catalog.resolve({ componentCode: code, fileName: 'a.js', isStep: true }, context('o_1'));
    expect([source.kind, named.kind, step.kind, step.name]).toEqual(['source', 'source', 'action', 'step']);
    await step.keep();
    expect(step.id).not.toBe(named.id);
    expect(await catalog.resolve({ componentId: step.id }, context('o_1'))).toMatchObject({ kind: 'action' });
    expect(inspector.inspected.map(({ as }) => as)).toEqual(['component', 'component', 'step']);
  });

  it.each([
    [{}, 'component.reference_missing'],
    [{ componentId: 'sc_unknown' }, 'component.not_found'],
    [{ key: 'unknown' }, 'component.not_found'],
  ])('refuses %j with %s', async (reference, code) => {
    const { catalog } = await world();
    await expect(catalog.resolve(reference, context('o_1'))).rejects.toMatchObject({ code });
  });

  it('does not give a component of another workspace', async () => {
    const { catalog, save } = await world();
    const saved = await save(codeOf({ key: 'k' }));
    for (const reference of [{ componentId: idOf(saved['id']) }, { key: 'k' }]) {
      await expect(catalog.resolve(reference, context('o_2'))).rejects.toMatchObject({ code: 'component.not_found' });
    }
  });
});
