import { describe, expect, it } from '@jest/globals';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { emit, id } from './testing/emit-record.js';
import { eventsWorld as world, numbers } from './testing/events-world.js';

describe('GET /v1/sources/{id}/events', () => {
  // docs/reference/rest-api.md#event-records
  it('carries whole events beside the shown ones at its former address, within the bytes of a page', async () => {
    const { call, emitted } = await world(100, { pageBytes: 11_000 });
    const large = { n: 1, text: 'x'.repeat(4_000) };
    await emitted(emit(0, 'z'.repeat(30_000)), ...numbers(1, 6).map((n) => emit(n, { ...large, n })), emit(7, null));
    const page = async (query: string) => {
      const reply = await call('get', `/v1/sources/dc_a/events?limit=100${query}`);
      const { page_info } = reply.body as { page_info: { count: number; total_count: number } };
      expect([page_info.count, page_info.total_count]).toEqual([itemsOf(reply).length, 8]);
      return itemsOf(reply);
    };
    const [newest, second, third, ...more] = await page('');
    expect(newest).toMatchObject({ event: null, e: null });
    expect(second).toMatchObject({ id: id(6), truncated: true, e: { ...large, n: 6 }, event: { n: 6 } });
    expect([third?.['id'], more]).toEqual([id(5), []]);
    // Both forms count, so with two whole ones a page has half as many.
    expect((await page(`&expand=event&after=${id(7)}`)).map((item) => item['id'])).toEqual([id(6)]);
    expect((await page(`&before=${id(3)}`)).map((item) => item['id'])).toEqual([id(5), id(4)]);
    // An event larger than a page comes alone.
    expect(await page(`&after=${id(1)}`)).toMatchObject([{ id: id(0), e: 'z'.repeat(30_000), truncated: true }]);
  });

  // docs/reference/rest-api.md#source-id-or-slug
  it('takes the slug of the source in the acting workspace', async () => {
    const { call, emitted, idsOf } = await world();
    await emitted(emit(1, 1));
    for (const path of ['event_summaries', 'events'])
      expect(await idsOf(`/v1/sources/slug-a/${path}`)).toEqual([id(1)]);
    expect(errorOf(await call('get', '/v1/sources/slug-b/events'))).toMatchObject({ code: 'source_not_found' });
    expect((await call('delete', '/v1/sources/slug-a/events')).status).toBe(202);
    expect(await idsOf('/v1/sources/dc_a/events')).toEqual([]);
  });
});
