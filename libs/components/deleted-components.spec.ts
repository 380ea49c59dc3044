import { afterEach, describe, expect, it } from '@jest/globals';
import { dataOf, errorOf, itemsOf, type Json } from '#libs/http/testing/replies.js';
import { closeComponentWorlds, componentWorld as world } from './testing/component-world.js';
import { codeOf } from './testing/fakes.js';

afterEach(closeComponentWorlds);

const idOf = ({ id }: Readonly<Record<string, Json>>): string => {
  if (typeof id !== 'string') throw new Error(`no id but ${JSON.stringify(id)}`);
  return id;
};

describe('GET /v1/workspaces/{id}/components', () => {
  const names = async (call: Awaited<ReturnType<typeof world>>['call'], query: string, key?: string) =>
    itemsOf(await call('get', `/v1/workspaces/o_1/components?${query}`, key)).map((item) => item['name']);

  // docs/reference/rest-api.md#components-list
  it('lists the components of the workspace without their code, those saved last first', async () => {
    const { call, save, plane } = await world();
    const saved = await save(codeOf({ name: 'First', key: 'shop-order' }));
    plane.clock.time += 1_000;
    await save(codeOf({ name: 'Second', key: 'b', kind: 'action' }));
    await save(codeOf({ name: 'Theirs' }), 'other');
    const reply = await call('get', '/v1/workspaces/o_1/components');
    const { code, ...listed } = saved;
    expect(code).toBeDefined();
    expect(itemsOf(reply)).toEqual([expect.objectContaining({ name: 'Second' }), listed]);
    expect(reply.body).toMatchObject({ page_info: { total_count: 2, count: 2 } });
    expect(await names(call, 'type=source')).toEqual(['First']);
    expect(await names(call, 'q=IRS')).toEqual(['First']);
    expect(await names(call, 'q=shop-')).toEqual(['First']);
    expect(await names(call, 'q=shop-&type=action')).toEqual([]);
    expect(errorOf(await call('get', '/v1/workspaces/o_1/components?type=app'))).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
    });
    expect(errorOf(await call('get', '/v1/orgs/o_1/components', 'other'))).toMatchObject({ code: 'not_a_member' });
  });

  it('pages through what a text matches, in both directions, with its total', async () => {
    const { call, save, plane } = await world();
    for (let n = 0; n < 9; n++) {
      plane.clock.time += 1_000;
      await save(codeOf({ name: n % 2 === 0 ? `Even ${n}` : `Odd ${n}` }));
    }
    const page = async (more: string) => {
      const reply = await call('get', `/v1/workspaces/o_1/components?q=even&limit=2${more}`);
      const { page_info, data } = reply.body as {
        page_info: { total_count: number; start_cursor: string; end_cursor: string };
        data: { name: string }[];
      };
      expect(page_info.total_count).toBe(5);
      return { ...page_info, names: data.map(({ name }) => name) };
    };
    const first = await page('');
    expect(first.names).toEqual(['Even 8', 'Even 6']);
    const second = await page(`&after=${first.end_cursor}`);
    expect(second.names).toEqual(['Even 4', 'Even 2']);
    const third = await page(`&after=${second.end_cursor}`);
    expect(third.names).toEqual(['Even 0']);
    expect((await page(`&before=${third.start_cursor}`)).names).toEqual(['Even 4', 'Even 2']);
    expect((await page(`&before=${second.start_cursor}`)).names).toEqual(['Even 8', 'Even 6']);
  });
});

describe('DELETE /v1/components/{key or id}', () => {
  // docs/reference/rest-api.md#component-delete
  it('removes the component from look-ups and lists, and the same code brings it back under its id', async () => {
    const { call, save } = await world();
    const saved = await save(codeOf({ key: 'k' }));
    const path = `/v1/components/${idOf(saved)}`;
    expect((await call('delete', path)).status).toBe(204);
    for (const gone of [path, '/v1/components/k', `${path}/packages`])
      expect(errorOf(await call('get', gone))).toMatchObject({ status: 404, code: 'component_not_found' });
    expect(itemsOf(await call('get', '/v1/workspaces/o_1/components'))).toEqual([]);
    expect(errorOf(await call('delete', path))).toMatchObject({ status: 404, code: 'component_not_found' });
    const again = await save(codeOf({ key: 'k' }));
    expect(idOf(again)).toBe(idOf(saved));
    expect(dataOf(await call('get', '/v1/components/k'))).toEqual(again);
  });

  it('takes a key, and deletes its newest version', async () => {
    const { call, save } = await world();
    await save(codeOf({ key: 'k', version: '1.0.0' }));
    await save(codeOf({ key: 'k', version: '2.0.0' }));
    expect((await call('delete', '/v1/components/k')).status).toBe(204);
    expect(dataOf(await call('get', '/v1/components/k'))['version']).toBe('1.0.0');
  });

  it('is refused while the component is used, and names its users', async () => {
    const { call, save, users, plane } = await world();
    const saved = await save(codeOf({}));
    users.set(idOf(saved), [{ id: 'dc_1', name: 'Orders' }]);
    const refused = errorOf(await call('delete', `/v1/components/${idOf(saved)}`));
    expect(refused).toMatchObject({
      status: 409,
      code: 'component_in_use',
      details: { sources: [{ id: 'dc_1', name: 'Orders' }], workflows: [] },
    });
    expect(await plane.eventsOf(`component-${idOf(saved)}`)).toHaveLength(1);
  });

  it('is taken back for a user that was written at the same moment', async () => {
    const { call, save, users, plane } = await world();
    const saved = await save(codeOf({}));
    const { waitFor } = plane.projectors;
    plane.projectors.waitFor = (...args) => {
      // The user shows in the table together with the deletion.
      users.set(idOf(saved), [{ id: 'dc_1', name: 'Orders' }]);
      return waitFor.apply(plane.projectors, args);
    };
    const refused = errorOf(await call('delete', `/v1/components/${idOf(saved)}`));
    expect(refused).toMatchObject({ status: 409, code: 'component_in_use' });
    const { revision, ...component } = saved;
    expect(revision).toBe(0);
    expect(dataOf(await call('get', `/v1/components/${idOf(saved)}`))).toMatchObject({ ...component, revision: 2 });
  });

  it('finds no component of another workspace, nor of the registry', async () => {
    const { call, save } = await world();
    const saved = await save(codeOf({}), 'other');
    const refused = errorOf(await call('delete', `/v1/components/${idOf(saved)}`));
    expect(refused).toMatchObject({ status: 404, code: 'component_not_found' });
  });
});
