import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { codeOf } from '#libs/components/testing/fakes.js';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { sourcesWorld, textOf } from '../testing/sources-world.js';

const CODE = codeOf({ name: 'Any', configurableProps: [{ name: 'http', type: '$.interface.http' }] });
const TIMED = codeOf({
  name: 'Timed',
  configurableProps: [{ name: 'timer', type: '$.interface.timer', default: { intervalSeconds: 900 } }],
});
const LIST = '/v1/workspaces/o_1/sources';
const DAY = 24 * 3_600_000;

let world: Awaited<ReturnType<typeof sourcesWorld>>;
beforeEach(async () => {
  world = await sourcesWorld();
});
afterEach(() => world.close());

/** Deploys sources with these names, the first one first. */
const deployed = async (...names: string[]): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (const name of names) ids.push(textOf((await world.create({ component_code: CODE, name }))['id']));
  return ids;
};
const namesOf = async (query: Record<string, string>): Promise<readonly unknown[]> =>
  itemsOf(await world.call('get', LIST).query(query)).map(({ name }) => name);

// docs/reference/rest-api.md#source-list-filters
describe('GET /v1/workspaces/{id}/sources', () => {
  it('finds by a part of the name in any case, and by active', async () => {
    const [first = ''] = await deployed('Orders in', 'orders out', 'Billing');
    await world.call('put', `/v1/sources/${first}`).send({ active: false });
    expect(await namesOf({ q: 'ORD' })).toEqual(['orders out', 'Orders in']);
    expect(await namesOf({ q: 'ord', active: 'true' })).toEqual(['orders out']);
    expect(await namesOf({ active: 'false' })).toEqual(['Orders in']);
    expect(await namesOf({ q: 'nothing' })).toEqual([]);
  });

  it('finds those that fail, and the active ones that are silent', async () => {
    const [failing = '', silent = '', off = '', busy = ''] = await deployed('failing', 'silent', 'off', 'busy');
    await world.call('put', `/v1/sources/${off}`).send({ active: false });
    const now = world.now();
    world.counts.set(failing, { lastEventAt: now, lastErrorAt: now - DAY + 60_000, events: 2, errors: 1 });
    world.counts.set(silent, { lastEventAt: now - DAY - 1, lastErrorAt: now - DAY - 1, events: 0, errors: 0 });
    world.counts.set(busy, { lastEventAt: now - 1, lastErrorAt: null, events: 7, errors: 0 });
    expect(await namesOf({ state: 'failing' })).toEqual(['failing']);
    expect(await namesOf({ state: 'silent' })).toEqual(['silent']);
    expect(await namesOf({ sort: 'last_event' })).toEqual(['failing', 'busy', 'silent', 'off']);
    expect(await namesOf({ sort: 'errors' })).toEqual(['failing', 'busy', 'off', 'silent']);
    expect(await namesOf({ sort: 'name' })).toEqual(['busy', 'failing', 'off', 'silent']);
  });

  it('has what each source had lately, and when it runs next, if that is asked for', async () => {
    const [id = ''] = await deployed('counted');
    await world.create({ component_code: TIMED, name: 'timed' });
    world.counts.set(id, { lastEventAt: 5, lastErrorAt: null, events: 3, errors: 0 });
    const [timed, counted] = itemsOf(await world.call('get', LIST).query({ include_stats: 'true' }));
    expect(counted?.['stats']).toEqual({
      last_event_at: 5,
      last_error_at: null,
      next_run_at: null,
      events_24h: 3,
      errors_24h: 0,
    });
    expect(timed?.['stats']).toMatchObject({ last_event_at: null, next_run_at: expect.any(Number) });
    expect(itemsOf(await world.call('get', LIST))[0]).not.toHaveProperty('stats');
  });

  it('pages through what was found, also from a source that is gone', async () => {
    const ids = await deployed('a1', 'a2', 'b', 'a3', 'a4');
    const page = async (query: Record<string, string>) => {
      const reply = await world.call('get', LIST).query({ q: 'a', ...query });
      const { page_info } = reply.body as {
        page_info: { total_count: number; end_cursor: string; start_cursor: string };
      };
      return { names: itemsOf(reply).map(({ name }) => name), ...page_info };
    };
    const first = await page({ limit: '2' });
    expect(first).toMatchObject({ names: ['a4', 'a3'], total_count: 4 });
    await world.call('delete', `/v1/sources/${ids[3] ?? ''}`);
    const second = await page({ limit: '2', after: first.end_cursor });
    expect(second).toMatchObject({ names: ['a2', 'a1'], total_count: 3 });
    expect((await page({ limit: '1', before: second.start_cursor })).names).toEqual(['a4']);
    const wrong = await world.call('get', LIST).query({ sort: 'name', after: first.end_cursor });
    expect(errorOf(wrong)).toMatchObject({ status: 400, code: 'invalid_cursor' });
  });

  it.each([
    ['state', 'broken'],
    ['sort', 'size'],
    ['active', 'perhaps'],
    ['q', ''],
  ])('refuses %s=%s', async (field, value) => {
    const reply = await world.call('get', LIST).query({ [field]: value });
    expect(errorOf(reply)).toMatchObject({ status: 400, code: 'invalid_parameter' });
  });
});
