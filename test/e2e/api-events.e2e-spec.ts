import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ErrorBody, type EventSummary, type Paged, type Source } from '#test/harness/api-client.js';
import { componentCode, emitterCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;
const read = (source: Source, query: Record<string, string> = {}): Promise<Paged<EventSummary>> =>
  api.expect(200, 'GET', `/v1/sources/${source.id}/event_summaries`, { query });
const idsOf = ({ data }: Paged<EventSummary>): string[] => data.map(({ id }) => id);

const filled = async (count: number, channel?: string): Promise<Source> => {
  const source = await instance.deploy(emitterCode());
  const meta = channel === undefined ? {} : { name: channel };
  await instance.post(
    source,
    Array.from({ length: count }, (_, n) => [{ n }, meta]),
  );
  await instance.history(source, Math.min(count, 100), channel);
  return source;
};

describe('event summaries', () => {
  // docs/reference/rest-api.md#event-list-order #event-cursors
  it('come newest first, ten of them, with raw event ids as cursors', async () => {
    const source = await filled(25);
    const first = await read(source);
    expect(first.data.map(({ event }) => (event as { n: number }).n)).toEqual([24, 23, 22, 21, 20, 19, 18, 17, 16, 15]);
    expect(first.page_info).toEqual({
      total_count: 25,
      count: 10,
      start_cursor: first.data[0]?.id,
      end_cursor: first.data[9]?.id,
    });
    const second = await read(source, { after: first.page_info.end_cursor ?? '', limit: '100' });
    expect(second.data.map(({ event }) => (event as { n: number }).n)).toEqual(
      Array.from({ length: 15 }, (_, n) => 14 - n),
    );
    const back = await read(source, { before: second.page_info.start_cursor ?? '', limit: '3' });
    expect(idsOf(back)).toEqual(idsOf(first).slice(7));
  });

  // docs/reference/rest-api.md#event-retention
  it('are kept to the last 100 of a channel', async () => {
    const source = await filled(130);
    const { data, page_info } = await read(source, { limit: '100' });
    expect(page_info.total_count).toBe(100);
    expect(data.map(({ event }) => (event as { n: number }).n)).toEqual(Array.from({ length: 100 }, (_, n) => 129 - n));
  });

  // docs/reference/rest-api.md#event-channel-filter
  it('belong to the default channel, or to the requested one', async () => {
    const source = await filled(3, 'named');
    expect((await read(source)).data).toEqual([]);
    const named = await read(source, { event_name: 'named' });
    expect(named.data).toHaveLength(3);
    for (const { metadata } of named.data) expect(metadata).toMatchObject({ name: 'named', emitter_id: source.id });
  });

  // docs/reference/rest-api.md#event-channel-filter
  it('of $errors and $logs are read by path or by channel', async () => {
    const source = await instance.deploy(
      componentCode({ members: `run() { console.log('said'); throw new Error('bad'); },` }),
    );
    await instance.post(source, {});
    for (const channel of ['$errors', '$logs']) {
      const byChannel = await instance.history(source, 1, channel);
      const byPath = await api.expect<Paged<EventSummary>>(
        200,
        'GET',
        `/v1/sources/${source.id}/${channel}/event_summaries`,
        {
          query: { expand: 'event', limit: '100' },
        },
      );
      expect([...byPath.data].reverse()).toEqual(byChannel);
    }
  });

  // docs/reference/rest-api.md#event-truncation #event-expand
  it.each([
    ['a long text', 'x'.repeat(5_000)],
    ['a large object', Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`key${n}`, 'y'.repeat(50)]))],
    ['a long list', Array.from({ length: 1_000 }, (_, n) => n)],
    ['depth', { a: { b: { c: { d: 'z'.repeat(3_000) } } } }],
  ])('shorten %s to 1 KB of whole JSON of the same type, unless expanded', async (_name, payload) => {
    const source = await instance.deploy(emitterCode());
    await instance.post(source, [[payload]]);
    expect(await instance.payloads(source, 1)).toEqual([payload]);
    const [short] = (await read(source)).data;
    expect(short?.truncated).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(short?.event))).toBeLessThanOrEqual(1_024);
    expect(Array.isArray(short?.event)).toBe(Array.isArray(payload));
    expect(typeof short?.event).toBe(typeof payload);
    const [whole] = (await read(source, { expand: 'event' })).data;
    expect(whole).not.toHaveProperty('truncated');
  });

  // docs/reference/rest-api.md#event-truncation
  it('leave an event of up to 1,024 bytes unchanged', async () => {
    const payload = { pad: 'x'.repeat(1_024 - '{"pad":""}'.length) };
    const source = await instance.deploy(emitterCode());
    await instance.post(source, [[payload]]);
    await instance.history(source, 1);
    const [event] = (await read(source)).data;
    expect(event?.event).toEqual(payload);
    expect(event).not.toHaveProperty('truncated');
  });

  // docs/reference/rest-api.md#event-cursors
  it.each([
    ['limit', '0'],
    ['after', 'nonsense'],
    ['before', '1-2-3'],
  ])('refuse %s=%s with 400', async (name, value) => {
    const source = await filled(1);
    const reply = await api.call<ErrorBody>('GET', `/v1/sources/${source.id}/event_summaries`, {
      query: { [name]: value },
    });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toContain(name);
  });
});

describe('one event', () => {
  // docs/reference/rest-api.md#event-get #event-payload #event-summary-fields
  it('is read whole, or as the exact text, with the run that emitted it as its errors and log lines name it', async () => {
    const members = `run() { console.log('said'); this.$emit({ n: 7, pad: 'x'.repeat(3000) }); throw new Error('bad'); },`;
    const source = await instance.deploy(componentCode({ members }));
    await instance.post(source, {});
    const [errors, logs, emits] = [
      await instance.history(source, 1, '$errors'),
      await instance.history(source, 2, '$logs'),
      await instance.history(source, 1),
    ];
    const [id] = emits.map((each) => each.id);
    const path = `/v1/sources/${source.name_slug}/events/${id}`;
    const { data } = await api.expect<{ data: EventSummary }>(200, 'GET', path);
    expect(data).toEqual(emits[0]);
    expect(data).not.toHaveProperty('truncated');
    const context = Reflect.get(errors[0]?.event as object, 'original_context') as { id: string };
    const named = [...errors, ...logs, data].map(({ metadata }) => metadata['invocation_id']);
    expect(named).toEqual([context.id, context.id, context.id, context.id]);
    const payload = await api.call('GET', `${path}/payload`);
    expect(payload.text).toBe(`{"n":7,"pad":"${'x'.repeat(3_000)}"}`);
    expect(payload.headers['content-disposition']).toBe(`attachment; filename="${id}.json"`);
    const error = await api.call<ErrorBody>('GET', path, { query: { event_name: 'other' } });
    expect(error).toMatchObject({ status: 404, body: { code: 'event_not_found' } });
  });
});

describe('deleting events', () => {
  let source: Source;
  let ids: string[];
  beforeAll(async () => {
    source = await filled(9);
    ids = idsOf(await read(source)).reverse();
  }, 30_000);

  const remove = (query: Record<string, string> = {}) =>
    api.call('DELETE', `/v1/sources/${source.id}/events`, { query });
  const left = async (): Promise<readonly number[]> =>
    (await read(source)).data.map((event) => ids.indexOf(event.id)).reverse();

  // docs/reference/rest-api.md#events-delete
  it('answers 202 and {}, and is in effect at the next read: one, from a start, to an end, all', async () => {
    const reply = await remove({ start_id: ids[4] ?? '', end_id: ids[4] ?? '' });
    expect(reply).toMatchObject({ status: 202, body: {} });
    expect(await left()).toEqual([0, 1, 2, 3, 5, 6, 7, 8]);
    expect((await remove({ start_id: ids[7] ?? '' })).status).toBe(202);
    expect(await left()).toEqual([0, 1, 2, 3, 5, 6]);
    expect((await remove({ end_id: ids[1] ?? '' })).status).toBe(202);
    expect(await left()).toEqual([2, 3, 5, 6]);
    expect((await remove({ start_id: ids[3] ?? '', end_id: ids[5] ?? '' })).status).toBe(202);
    expect(await left()).toEqual([2, 6]);
  });

  // docs/reference/rest-api.md#events-delete
  it('compares as a range: ids need not exist, and a start after the end deletes nothing', async () => {
    expect((await remove({ start_id: ids[6] ?? '', end_id: ids[2] ?? '' })).status).toBe(202);
    expect(await left()).toEqual([2, 6]);
    expect((await remove({ start_id: '9999999999999-0' })).status).toBe(202);
    expect(await left()).toEqual([2, 6]);
  });

  it('refuses a malformed id by name', async () => {
    const reply = await remove({ start_id: 'nonsense' });
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_event_id' } });
    expect((reply.body as ErrorBody).error).toContain('nonsense');
  });

  // docs/reference/rest-api.md#events-delete-channel
  it('deletes the named channel, or all without a name, and keeps later events', async () => {
    const before = await left();
    await instance.post(source, [
      ['named', { name: 'named' }],
      ['other', { name: 'other' }],
    ]);
    await instance.history(source, 1, 'other');
    expect((await remove({ event_name: 'named' })).status).toBe(202);
    expect((await read(source, { event_name: 'named' })).data).toEqual([]);
    expect((await read(source, { event_name: 'other' })).data).toHaveLength(1);
    expect(await left()).toEqual(before);
    expect((await remove()).status).toBe(202);
    expect(await left()).toEqual([]);
    expect((await read(source, { event_name: 'other' })).data).toEqual([]);
    await instance.post(source, [['fresh']]);
    expect(await instance.payloads(source, 1)).toEqual(['fresh']);
  });

  // docs/reference/rest-api.md#events-delete-dedupe
  it('does not forget deduplicated ids', async () => {
    const deduped = await instance.deploy(emitterCode(`dedupe: 'unique',`));
    await instance.post(deduped, [['once', { id: 1 }]]);
    await instance.history(deduped, 1);
    await api.expect(202, 'DELETE', `/v1/sources/${deduped.id}/events`);
    await instance.post(deduped, [
      ['again', { id: 1 }],
      ['other', { id: 2 }],
    ]);
    expect(await instance.payloads(deduped, 1)).toEqual(['other']);
  });
});
