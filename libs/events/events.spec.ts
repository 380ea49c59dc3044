import { describe, expect, it, jest } from '@jest/globals';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { DeletedSourceEventsReactor, storedEvents } from './index.js';
import { emit, id, T0, topics } from './testing/emit-record.js';
import { eventsWorld as world, numbers } from './testing/events-world.js';

describe('GET /v1/sources/{id}/event_summaries', () => {
  // docs/reference/rest-api.md#event-summary-fields
  it('lists emitted events, newest first, with the fields of an event summary', async () => {
    const { call, emitted } = await world();
    await emitted(
      emit(1, { n: 1 }),
      emit(2, { n: 2 }, { headers: { dedupe: '42', summary: 'Second', ts: '1699999999999' } }),
      emit(3, null, { headers: { dedupe: '"a"' } }),
    );
    const reply = await call('get', '/v1/sources/dc_a/event_summaries');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      page_info: { total_count: 3, count: 3, start_cursor: id(3), end_cursor: id(1) },
      data: [
        {
          id: id(3),
          indexed_at_ms: T0 + 3,
          event: null,
          metadata: { emit_id: 'emit-3', name: '', emitter_id: 'dc_a', id: 'a' },
        },
        {
          id: id(2),
          indexed_at_ms: T0 + 2,
          event: { n: 2 },
          metadata: {
            emit_id: 'emit-2',
            name: '',
            emitter_id: 'dc_a',
            id: 42,
            summary: 'Second',
            ts: 1_699_999_999_999,
          },
        },
        {
          id: id(1),
          indexed_at_ms: T0 + 1,
          event: { n: 1 },
          metadata: { emit_id: 'emit-1', name: '', emitter_id: 'dc_a' },
        },
      ],
    });
  });

  it('is empty, with null cursors, before the first event', async () => {
    const { call } = await world();
    expect((await call('get', '/v1/sources/dc_a/event_summaries/')).body).toEqual({
      page_info: { total_count: 0, count: 0, start_cursor: null, end_cursor: null },
      data: [],
    });
  });

  it('returns 10 by default and up to 100 on request, of the last 100 at most', async () => {
    const { call, emitted, idsOf } = await world();
    await emitted(...numbers(1, 130).map((n) => emit(n, n)));
    expect(await idsOf('/v1/sources/dc_a/event_summaries')).toEqual(numbers(121, 130).reverse().map(id));
    expect(await idsOf('/v1/sources/dc_a/event_summaries?limit=500')).toEqual(numbers(31, 130).reverse().map(id));
    expect(await idsOf('/v1/sources/dc_a/event_summaries?limit=2')).toEqual([id(130), id(129)]);
    const { page_info } = (await call('get', '/v1/sources/dc_a/event_summaries?limit=2')).body as Record<
      string,
      unknown
    >;
    expect(page_info).toEqual({ total_count: 100, count: 2, start_cursor: id(130), end_cursor: id(129) });
  });

  it('shows no more than the retained events, also before the store is trimmed', async () => {
    const { call, emitted, idsOf } = await world(5);
    for (const n of numbers(1, 12)) await emitted(emit(n, n));
    const reply = await call('get', '/v1/sources/dc_a/event_summaries?limit=100');
    expect(reply.body).toMatchObject({ page_info: { total_count: 5, count: 5, end_cursor: id(8) } });
    expect(await idsOf(`/v1/sources/dc_a/event_summaries?after=${id(9)}`)).toEqual([id(8)]);
  });

  it('pages by event ids, both ways', async () => {
    const { emitted, idsOf } = await world();
    await emitted(...numbers(1, 9).map((n) => emit(n, n)));
    const path = '/v1/sources/dc_a/event_summaries';
    expect(await idsOf(`${path}?limit=3&after=${id(7)}`)).toEqual([6, 5, 4].map(id));
    expect(await idsOf(`${path}?limit=2&before=${id(3)}`)).toEqual([5, 4].map(id));
    expect(await idsOf(`${path}?after=${id(8)}&before=${id(4)}`)).toEqual([7, 6, 5].map(id));
    expect(await idsOf(`${path}?after=${id(1)}`)).toEqual([]);
  });

  // docs/reference/rest-api.md#event-id
  it('orders by time, then by sequence as a number', async () => {
    const { emitted, idsOf } = await world();
    const ids = [`${T0}-2`, `${T0}-9`, `${T0}-10`, `${T0}-11`, `${T0 + 1}-0`];
    await emitted(...ids.map((event, n) => emit(n, n, { headers: { id: event } })));
    expect(await idsOf('/v1/sources/dc_a/event_summaries')).toEqual([...ids].reverse());
  });

  it('keeps channels apart, listing the default or the requested one', async () => {
    const { emitted, idsOf } = await world();
    await emitted(
      emit(1, 1),
      emit(2, 2, { channel: 'orders' }),
      emit(3, {}, { channel: '$errors' }),
      emit(4, {}, { channel: '$logs' }),
      emit(6, 6, { emitter: 'dc_b' }),
    );
    expect(await idsOf('/v1/sources/dc_a/event_summaries')).toEqual([id(1)]);
    expect(await idsOf('/v1/sources/dc_a/event_summaries?event_name=orders')).toEqual([id(2)]);
    expect(await idsOf('/v1/sources/dc_a/event_summaries?event_name=none')).toEqual([]);
    for (const channel of ['$errors', '%24errors']) {
      expect(await idsOf(`/v1/sources/dc_a/${channel}/event_summaries`)).toEqual([id(3)]);
    }
    expect(await idsOf('/v1/sources/dc_a/$logs/event_summaries')).toEqual([id(4)]);
    expect(await idsOf('/v1/sources/dc_b/event_summaries')).toEqual([id(6)]);
  });

  // docs/reference/rest-api.md#event-expand
  it('ends a page of whole events at its byte limit, and continues both ways by cursors', async () => {
    const { call, emitted, readModels } = await world(100, { pageBytes: 10_000 });
    const loaded: string[] = [];
    const text = readModels.text.bind(readModels);
    readModels.text = async (schema, docId) => {
      loaded.push(docId.split('/').at(-1) ?? '');
      return text(schema, docId);
    };
    const large = numbers(1, 9).map((n) => emit(n, { n, text: 'x'.repeat(4_000) }));
    await emitted(...large, emit(10, { n: 10, text: 'y'.repeat(30_000) }), emit(11, { n: 11 }));
    const page = async (query: string): Promise<{ ids: unknown[]; info: Record<string, unknown> }> => {
      const reply = await call('get', `/v1/sources/dc_a/event_summaries?expand=event&limit=100${query}`);
      const body = reply.body as { page_info: Record<string, unknown> };
      return { ids: itemsOf(reply).map((item) => item['id']), info: body.page_info };
    };
    const first = await page('');
    expect(first).toEqual({
      ids: [id(11)],
      info: { total_count: 11, count: 1, start_cursor: id(11), end_cursor: id(11) },
    });
    // An event larger than a page comes alone.
    expect((await page(`&after=${id(11)}`)).ids).toEqual([id(10)]);
    expect((await page(`&after=${id(10)}`)).ids).toEqual([id(9), id(8)]);
    expect((await page(`&before=${id(5)}`)).ids).toEqual([id(7), id(6)]);
    // Only returned texts were read.
    expect(loaded).toEqual([id(10), id(9), id(8), id(6), id(7)]);
    // The page of shortened events contains all of them.
    expect(itemsOf(await call('get', '/v1/sources/dc_a/event_summaries?limit=100'))).toHaveLength(11);
  });

  it.each(['', '&expand=event'])(
    'parses no event for a list (limit=100%s), and loads only events shown whole',
    async (expand) => {
      const { call, emitted, readModels } = await world();
      const odd = { text: 'x"\\\u2028😀'.repeat(20_000), list: [1, { a: null }] };
      await emitted(...numbers(1, 30).map((n) => emit(n, { ...odd, n })));
      const texts = jest.spyOn(readModels, 'text');
      const parsed = jest.spyOn(JSON, 'parse');
      const reply = await call('get', `/v1/sources/dc_a/event_summaries?limit=100${expand}&include=id,event`)
        .buffer()
        .parse((response, done) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () => done(null, Buffer.concat(parts).toString('utf8')));
        });
      // The in-memory store parses copies of the shortened forms.
      const longest = Math.max(0, ...parsed.mock.calls.map(([text]) => text.length));
      const textsRead = texts.mock.calls.length;
      parsed.mockRestore();
      expect(longest).toBeLessThan(4_000);
      expect(textsRead).toBe(expand === '' ? 0 : 30);
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
      // Control: the parsed reply contains the emitted events.
      const { data } = JSON.parse(reply.body as string) as { data: { event: object }[] };
      expect(data).toHaveLength(30);
      expect(data[0]).toEqual({ id: id(30), event: expand === '' ? expect.anything() : { ...odd, n: 30 } });
    },
  );

  it('truncates large events, unless told to expand them', async () => {
    const { call, emitted } = await world();
    const large = { text: 'x'.repeat(5_000), n: 1 };
    await emitted(emit(1, large), emit(2, { small: true }));
    const [small, cut] = itemsOf(await call('get', '/v1/sources/dc_a/event_summaries'));
    expect(small).not.toHaveProperty('truncated');
    expect(cut).toMatchObject({ truncated: true, event: { text: expect.stringMatching(/^x+…$/), n: 1 } });
    expect(Buffer.byteLength(JSON.stringify(cut?.['event']))).toBeLessThanOrEqual(1_024);
    for (const path of ['?expand=event', '&expand=event']) {
      const whole = itemsOf(await call('get', `/v1/sources/dc_a/event_summaries${path}`))[1];
      expect(whole?.['event']).toEqual(large);
      expect(whole).not.toHaveProperty('truncated');
    }
  });

  it('has a former address, whose limit is n', async () => {
    const { emitted, idsOf } = await world();
    await emitted(...numbers(1, 5).map((n) => emit(n, n)));
    expect(await idsOf('/v1/sources/dc_a/events?n=2')).toEqual([id(5), id(4)]);
    expect(await idsOf('/v1/sources/dc_a/events')).toHaveLength(5);
  });

  // docs/reference/rest-api.md#event-cursors
  it('goes on from the place of an event that is no longer kept', async () => {
    const { emitted, idsOf } = await world(3);
    await emitted(...numbers(1, 6).map((n) => emit(n, n)));
    expect(await idsOf(`/v1/sources/dc_a/event_summaries?before=${id(2)}`)).toEqual([id(6), id(5), id(4)]);
    expect(await idsOf(`/v1/sources/dc_a/event_summaries?after=${id(2)}`)).toEqual([]);
  });

  it.each([
    ['limit=0', 'invalid_parameter', 'limit'],
    ['limit=ten', 'invalid_parameter', 'limit'],
    ['after=nonsense', 'invalid_cursor', 'after'],
    ['event_name=a&event_name=b', 'invalid_parameter', 'event_name'],
  ])('refuses ?%s', async (query, code, field) => {
    const { call } = await world();
    const error = errorOf(await call('get', `/v1/sources/dc_a/event_summaries?${query}`));
    expect(error).toMatchObject({ status: 400, code });
    expect(error.details).toMatchObject({ field });
  });

  it.each(['dc_unknown', 'dc_other', 'wh_1', 'p_1'])('answers 404 for %s', async (source) => {
    const { call } = await world();
    for (const path of ['event_summaries', '$errors/event_summaries', '$logs/event_summaries', 'events']) {
      const error = errorOf(await call('get', `/v1/sources/${source}/${path}`));
      expect(error).toMatchObject({ status: 404, code: 'source_not_found' });
    }
    expect((await call('delete', `/v1/sources/${source}/events`)).status).toBe(404);
  });
});

describe('DELETE /v1/sources/{id}/events', () => {
  it.each([
    ['all', '', []],
    ['an event and all later ones', `?start_id=${id(3)}`, [2, 1]],
    ['an event and all earlier ones', `?end_id=${id(3)}`, [5, 4]],
    ['a range, both ends included', `?start_id=${id(2)}&end_id=${id(4)}`, [5, 1]],
    ['a single event', `?start_id=${id(3)}&end_id=${id(3)}`, [5, 4, 2, 1]],
    ['ids that do not exist: by order', `?start_id=${T0 + 2}-7&end_id=${T0 + 4}-1`, [5, 2, 1]],
    ['nothing when the start is after the end', `?start_id=${id(4)}&end_id=${id(2)}`, [5, 4, 3, 2, 1]],
  ])('%s', async (_, query, left) => {
    const { call, emitted, idsOf } = await world();
    await emitted(...numbers(1, 5).map((n) => emit(n, n)));
    const reply = await call('delete', `/v1/sources/dc_a/events${query}`).type('application/json');
    expect([reply.status, reply.body]).toEqual([202, {}]);
    expect(await idsOf('/v1/sources/dc_a/event_summaries')).toEqual(left.map(id));
  });

  it('keeps events emitted afterwards', async () => {
    const { call, emitted, idsOf } = await world();
    await emitted(emit(1, 1), emit(2, 2));
    await call('delete', `/v1/sources/dc_a/events?start_id=${id(1)}`);
    await emitted(emit(3, 3));
    expect(await idsOf('/v1/sources/dc_a/event_summaries')).toEqual([id(3)]);
  });

  it('deletes all channels of the component but none of the platform, or the named one', async () => {
    const { call, emitted, idsOf } = await world();
    const channels = ['', 'orders', '$errors', '$logs'];
    await emitted(...channels.map((channel, n) => emit(n, n, { channel })), emit(9, 9, { emitter: 'dc_b' }));
    const left = async (): Promise<string[]> => {
      const lists = channels.map(async (channel) => ({
        channel,
        ids: await idsOf(`/v1/sources/dc_a/event_summaries?event_name=${channel}`),
      }));
      return (await Promise.all(lists)).filter(({ ids }) => ids.length > 0).map(({ channel }) => channel);
    };
    await call('delete', '/v1/sources/dc_a/events?event_name=');
    expect(await left()).toEqual(['orders', '$errors', '$logs']);
    await call('delete', '/v1/sources/dc_a/events');
    expect(await left()).toEqual(['$errors', '$logs']);
    await call('delete', '/v1/sources/dc_a/events?event_name=$errors');
    expect(await left()).toEqual(['$logs']);
    expect(await idsOf('/v1/sources/dc_b/event_summaries')).toEqual([id(9)]);
  });

  it.each(['start_id', 'end_id'])('refuses a malformed %s, and deletes nothing', async (field) => {
    const { call, emitted, idsOf } = await world();
    await emitted(emit(1, 1));
    const error = errorOf(await call('delete', `/v1/sources/dc_a/events?${field}=yesterday`));
    expect(error).toMatchObject({ status: 400, code: 'invalid_event_id', details: { field, actual: 'yesterday' } });
    expect(await idsOf('/v1/sources/dc_a/event_summaries')).toEqual([id(1)]);
  });
});

describe('the history', () => {
  it('is the same after a full rebuild', async () => {
    const { call, emitted, summaries, failures } = await world();
    await emitted(...numbers(1, 130).map((n) => emit(n, { n }, { channel: n % 3 === 0 ? 'third' : '' })));
    await call('delete', `/v1/sources/dc_a/events?start_id=${id(50)}&end_id=${id(60)}`);
    const shown = async (): Promise<unknown[]> => {
      const bodies: unknown[] = [];
      for (const query of ['limit=100', 'limit=100&event_name=third']) {
        bodies.push((await call('get', `/v1/sources/dc_a/event_summaries?${query}`)).body);
      }
      return bodies;
    };
    const before = await shown();
    await summaries.rebuild();
    expect(await shown()).toEqual(before);
    expect(failures).toEqual([]);
  });

  it.each(['SourceDeleted', 'SourceDeploymentFailed'])('of a source is deleted with it: %s', async (type) => {
    const { emitted, idsOf, readModels, summaries } = await world();
    await emitted(
      emit(1, 1),
      emit(2, {}, { channel: '$logs' }),
      emit(3, 3, { channel: 'x' }),
      emit(4, 4, { emitter: 'dc_b' }),
    );
    const reactor = new DeletedSourceEventsReactor({ summaries, topics });
    const deleted = recorded('source-dc_a', { type, data: {} });
    await reactor.handle(deleted);
    await reactor.handle(deleted);
    for (const channel of ['', '$logs', 'x']) {
      expect(await idsOf(`/v1/sources/dc_a/event_summaries?event_name=${channel}`)).toEqual([]);
    }
    expect(await idsOf('/v1/sources/dc_b/event_summaries')).toEqual([id(4)]);
    expect(await storedEvents(readModels).payloadOf('dc_b', '', id(4))).toBe('4');
    expect(await storedEvents(readModels).payloadOf('dc_a', '', id(1))).toBeUndefined();
  });
});
