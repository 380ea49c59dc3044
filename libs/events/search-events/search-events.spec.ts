import { describe, expect, it } from '@jest/globals';
import { errorOf } from '#libs/http/testing/replies.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { emit, id, T0 } from '../testing/emit-record.js';
import { eventsWorld as world, numbers } from '../testing/events-world.js';
import { eventSummaries } from '../read-models/event-summaries.projection.js';
import { SEARCH_LIMITS, SearchEvents, SearchEventsHandler } from './search-events.query.js';
import { SearchTurns } from './search-turns.js';

interface Found {
  readonly page_info: {
    readonly count: number;
    readonly start_cursor: string | null;
    readonly end_cursor: string | null;
    readonly searched_to: string | null;
  };
  readonly data: readonly { readonly id: string; readonly metadata: Readonly<Record<string, unknown>> }[];
}

const made = async (...options: Parameters<typeof world>) => {
  const { call, ...others } = await world(...options);
  const reply = (query: string) => call('get', `/v1/workspaces/o_1/event_summaries?${query}`);
  const found = async (query: string): Promise<Found> => {
    const answer = await reply(query);
    expect({ query, status: answer.status }).toEqual({ query, status: 200 });
    return answer.body as Found;
  };
  const ids = async (query: string) => (await found(query)).data.map((each) => each.id);
  return { ...others, call, reply, found, ids };
};

describe('GET /v1/workspaces/{id}/event_summaries', () => {
  // docs/reference/rest-api.md#event-search
  it('lists the events of all emitters of the workspace, newest first, of one channel or all', async () => {
    const { emitted, found, ids } = await made();
    await emitted(
      emit(1, 1),
      emit(2, 2, { emitter: 'dc_b' }),
      emit(3, 3, { channel: 'x' }),
      emit(4, 4, { channel: '$logs' }),
      emit(5, 5, { emitter: 'dc_other', headers: { workspace: 'o_2' } }),
    );
    expect(await ids('')).toEqual([id(2), id(1)]);
    expect(await ids('event_name=*')).toEqual([id(3), id(2), id(1)]);
    expect(await ids('event_name=$logs')).toEqual([id(4)]);
    expect(await ids('emitter_id=dc_a&event_name=*')).toEqual([id(3), id(1)]);
    expect(await ids('emitter_id=dc_b')).toEqual([id(2)]);
    expect(await ids(`since=${T0 + 2}&event_name=*`)).toEqual([id(3), id(2)]);
    expect(await ids(`until=${T0 + 2}&event_name=*`)).toEqual([id(2), id(1)]);
    expect((await found('')).page_info).toEqual({
      count: 2,
      start_cursor: `${id(2)}.dc_b`,
      end_cursor: `${id(1)}.dc_a`,
      searched_to: null,
    });
  });

  // docs/reference/rest-api.md#event-search
  it('finds a part of the summary, an id, or the start of the payload, in any case', async () => {
    const { emitted, ids } = await made();
    const far = (bytes: number) => ({ text: `${'x'.repeat(bytes)} for ADA` });
    await emitted(
      emit(1, { name: 'Ada' }),
      emit(2, 2, { headers: { summary: 'Order of ada' } }),
      emit(3, far(5_000)),
      emit(4, far(70_000)),
      emit(5, 5, { headers: { dedupe: '"order-7"', invocation: 'inv_1' } }),
    );
    expect(await ids('q=Ada')).toEqual([id(3), id(2), id(1)]);
    expect(await ids('q=ORDER-7')).toEqual([id(5)]);
    expect(await ids('q=emit-4')).toEqual([id(4)]);
    expect(await ids(`q=${id(1)}`)).toEqual([id(1)]);
    expect(await ids('q=dc_a')).toEqual([]);
    expect(await ids('invocation_id=inv_1')).toEqual([id(5)]);
    expect(await ids('q=ada&emitter_id=dc_b')).toEqual([]);
  });

  it('pages by the cursor up to which it searched, also where emitters emit in one millisecond', async () => {
    const { emitted, found } = await made();
    await emitted(...numbers(1, 6).flatMap((n) => [emit(n, n), emit(n, n, { emitter: 'dc_b' })]));
    const seen: string[] = [];
    let after = '';
    for (let pages = 1; ; pages++) {
      const { data, page_info } = await found(`limit=5&after=${after}`);
      seen.push(...data.map(({ id: each, metadata }) => `${each}.${String(metadata['emitter_id'])}`));
      if (page_info.searched_to === null) break;
      expect(page_info.searched_to).toBe(page_info.end_cursor);
      after = page_info.searched_to;
    }
    expect(seen).toEqual(
      numbers(1, 6)
        .reverse()
        .flatMap((n) => [`${id(n)}.dc_b`, `${id(n)}.dc_a`]),
    );
  });

  it('gives whole events on request, and goes on behind the last one that fits the page', async () => {
    const { emitted, found } = await made(100, { pageBytes: 5_000 });
    await emitted(...numbers(1, 3).map((n) => emit(n, { n, text: 'x'.repeat(3_000) })));
    const first = await found('expand=event');
    expect(first.data).toMatchObject([{ id: id(3), event: { n: 3 } }]);
    expect(first.data[0]).not.toHaveProperty('truncated');
    expect(first.page_info.searched_to).toBe(`${id(3)}.dc_a`);
    expect((await found('')).data[0]).toMatchObject({ truncated: true });
  });

  it.each([
    [`q=${'x'.repeat(201)}`, 'invalid_parameter'],
    ['event_name=$in', 'invalid_parameter'],
    ['after=1-0', 'invalid_cursor'],
    ['limit=0', 'invalid_parameter'],
    ['since=yesterday', 'invalid_parameter'],
    ['emitter_id=dc_other', 'emitter_not_found'],
  ])('refuses %s', async (query, code) => {
    const { reply } = await made();
    expect(errorOf(await reply(query))).toMatchObject({ code });
  });

  it('is for members only', async () => {
    const { call } = await made();
    expect(errorOf(await call('get', '/v1/workspaces/o_2/event_summaries'))).toMatchObject({ status: 403 });
  });
});

describe('a search', () => {
  const EMITTED = 1_200;
  const stored = async () => {
    const readModels = new InMemoryReadModels();
    const docs = numbers(1, EMITTED).map((n) => ({
      id: `dc_a//${id(n)}`,
      list: 'dc_a/',
      family: 'dc_a/',
      workspaceId: 'o_1',
      sort: `00${id(n).replace('-0', '-0000000000')}`,
      channel: '',
      short: '1',
    }));
    await readModels.put(eventSummaries, ...docs);
    return readModels;
  };
  const wanted = {
    workspaceId: 'o_1',
    emitterId: undefined,
    channel: '',
    invocationId: undefined,
    text: 'none',
    since: undefined,
    until: undefined,
  };

  it('ends after the events that one request may examine, and says how far it came', async () => {
    const readModels = await stored();
    let examined = 0;
    const { scan } = readModels;
    readModels.scan = async (schema, query) => {
      const slice = await scan.call(readModels, schema, query);
      examined += slice.examined;
      // As if each document stood for many.
      return { ...slice, examined: slice.examined * 40 } as never;
    };
    const handler = new SearchEventsHandler(readModels);
    const page = { limit: 10, after: undefined };
    const { docs, searchedTo } = await handler.execute(new SearchEvents(wanted, page, new AbortController().signal));
    expect([docs, examined]).toEqual([[], SEARCH_LIMITS.events / 40]);
    expect(searchedTo?.id).toBe(`dc_a//${id(EMITTED - 499)}`);
    const rest = await handler.execute(
      new SearchEvents(wanted, { limit: 10, after: searchedTo ?? undefined }, new AbortController().signal),
    );
    expect(rest.searchedTo?.id).toBe(`dc_a//${id(EMITTED - 999)}`);
  });

  it('ends with the slice in which its reader leaves', async () => {
    const readModels = await stored();
    const left = new AbortController();
    let slices = 0;
    const { scan } = readModels;
    readModels.scan = (schema, query) => {
      slices++;
      left.abort();
      return scan.call(readModels, schema, query) as never;
    };
    const handler = new SearchEventsHandler(readModels);
    await handler.execute(new SearchEvents(wanted, { limit: 10, after: undefined }, left.signal));
    expect(slices).toBe(1);
  });

  // docs/reference/limits.md#event-search
  it('waits for no other: one of a user and two of a workspace run at once', async () => {
    const turns = new SearchTurns();
    const ends: (() => void)[] = [];
    const begin = (user: string, workspace: string) =>
      turns.run(user, workspace, () => new Promise<void>((resolve) => ends.push(resolve)));
    const running = [begin('u_1', 'o_1'), begin('u_2', 'o_1')];
    for (const [user, workspace] of [
      ['u_1', 'o_2'],
      ['u_3', 'o_1'],
    ] as const)
      await expect(begin(user, workspace)).rejects.toMatchObject({ code: 'event.too_many_searches' });
    running.push(begin('u_3', 'o_2'));
    for (const end of ends) end();
    await Promise.all(running);
    await turns.run('u_1', 'o_1', () => Promise.resolve());
  });
});
