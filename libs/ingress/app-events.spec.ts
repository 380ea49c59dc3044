import { describe, expect, it } from '@jest/globals';
import { type Refusal } from '#libs/stream-log/refusal.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { appEvents, type AppEventRequest } from './app-events.js';

const MAX_PAYLOAD = 512 * 1024;
const topics = {
  invocations: (id: string) => `invocations.${id}`,
  emits: String,
  deliveries: String,
  attempts: String,
  runs: String,
  messages: String,
  emails: () => undefined,
  ownedBy: () => [],
  fixed: () => [],
  retentionOf: () => undefined,
};
const full: Refusal = { status: 429, code: 'unread_limit', retryAfterS: 7, text: 'too much waits' };

const setUp = async (
  count: number,
  isFull: (sourceId: string, asked: number) => boolean = () => false,
  refusal = full,
) => {
  const log = new InMemoryStreamLog();
  const sources = Array.from({ length: count }, (_, n) => ({ sourceId: `dc_${n}`, prop: 'hook' }));
  for (const { sourceId } of sources) await log.createTopic(`invocations.${sourceId}`);
  const failures: unknown[] = [];
  const matched: unknown[] = [];
  const stored: string[] = [];
  let asked = 0;
  const events = appEvents({
    log,
    topics,
    clock: { now: () => 5 },
    door: {
      refusal: (sourceId) => (isFull(sourceId, ++asked) ? refusal : undefined),
      stored: (sourceId) => void stored.push(sourceId),
    },
    matching: (...given) => {
      matched.push(given);
      return sources;
    },
    maxPayload: MAX_PAYLOAD,
    onFailure: (error) => failures.push(error),
  });
  const send = (over: Partial<AppEventRequest> = {}) =>
    events.send({ workspaceId: 'o_1', app: 'chat', eventName: 'message', payload: '{"a":1}', ...over });
  return { log, send, failures, matched, stored };
};

describe('an event of an app', () => {
  it('becomes one durable invocation for each source, in one publication', async () => {
    const { log, send, matched } = await setUp(3);
    const { invocations, refused } = await send({ accountId: 'apn_1' });
    expect(matched).toEqual([['o_1', 'chat', 'message', 'apn_1']]);
    expect(refused).toEqual([]);
    expect(log.published).toHaveLength(1);
    for (const { id, sourceId } of invocations)
      expect(log.recordsOf(`invocations.${sourceId}`)).toMatchObject([
        { key: sourceId, value: '{"a":1}', headers: { id, kind: 'apphook', workspace: 'o_1', prop: 'hook' } },
      ]);
    expect(invocations.map(({ sourceId }) => sourceId)).toEqual(['dc_0', 'dc_1', 'dc_2']);
  });

  it('is for nobody without a match', async () => {
    const { log, send } = await setUp(0);
    expect(await send()).toEqual({ invocations: [], refused: [] });
    expect(log.published).toEqual([]);
  });

  it('leaves out a source that was deleted meanwhile', async () => {
    const { log, send } = await setUp(2);
    await log.deleteTopic('invocations.dc_0');
    expect((await send()).invocations.map(({ sourceId }) => sourceId)).toEqual(['dc_1']);
  });

  it('is published in parts when it is large, so that the writer holds a bounded number of bytes', async () => {
    const { log, send } = await setUp(20);
    const payload = JSON.stringify('x'.repeat(MAX_PAYLOAD - 2));
    expect((await send({ payload })).invocations).toHaveLength(20);
    expect(log.published.map((records) => records.length)).toEqual([8, 8, 4]);
  });

  // docs/reference/rest-api.md#app-events-refused
  it('names the sources that are full, and runs the others', async () => {
    const { send } = await setUp(3, (id) => id === 'dc_1');
    const { invocations, refused } = await send();
    expect(invocations.map(({ sourceId }) => sourceId)).toEqual(['dc_0', 'dc_2']);
    expect(refused).toEqual([{ sourceId: 'dc_1', code: 'unread_limit', message: 'too much waits' }]);
  });

  it('is refused when every source is full', async () => {
    const { log, send } = await setUp(2, () => true);
    await expect(send()).rejects.toMatchObject({ code: 'source.unread_limit', details: { retry_after: 7 } });
    expect(log.published).toEqual([]);
  });

  // docs/reference/rest-api.md#app-events-refused
  it('is 503 when every source has too many events in flight', async () => {
    const crowded: Refusal = { status: 503, code: 'overloaded', retryAfterS: 1, text: 'too many events' };
    const { send } = await setUp(2, () => true, crowded);
    await expect(send()).rejects.toMatchObject({ code: 'source.overloaded', details: { retry_after: 1 } });
  });

  it('counts for the door what was stored', async () => {
    const { send, stored } = await setUp(3, (id) => id === 'dc_1');
    await send();
    expect(stored).toEqual(['dc_0', 'dc_2']);
  });

  it('looks at the limits again before each part', async () => {
    const { send } = await setUp(10, (_, asked) => asked > 8);
    const { invocations, refused } = await send({ payload: JSON.stringify('x'.repeat(MAX_PAYLOAD - 2)) });
    expect([invocations.length, refused.length]).toEqual([8, 2]);
  });

  it('gives it to the others while the lane of one source cannot be written', async () => {
    const { log, send, failures } = await setUp(3);
    log.hang('invocations.dc_1');
    const sending = send();
    while (log.hangingOf('invocations.dc_1') === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    log.refuse('invocations.dc_1');
    const { invocations, refused } = await sending;
    expect(invocations.map(({ sourceId }) => sourceId)).toEqual(['dc_0', 'dc_2']);
    expect(refused).toMatchObject([{ sourceId: 'dc_1', code: 'unavailable' }]);
    expect(failures).toHaveLength(1);
  });

  it('rejects when the log fails before any source has it', async () => {
    const { log, send, failures } = await setUp(2);
    log.onNextPublish(() => {
      throw new Error('no log');
    });
    await expect(send()).rejects.toThrow('no log');
    expect(failures).toEqual([]);
  });

  // docs/reference/rest-api.md#app-events-refused
  it('names the sources for which a later part failed, and goes on', async () => {
    const { log, send, failures } = await setUp(20);
    let parts = 0;
    log.beforePublish = () => {
      if (++parts === 2) throw new Error('away');
    };
    const { invocations, refused } = await send({ payload: JSON.stringify('x'.repeat(MAX_PAYLOAD - 2)) });
    expect(invocations.map(({ sourceId }) => sourceId)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19].map((n) => `dc_${n}`),
    );
    expect(refused).toHaveLength(8);
    expect(refused[0]).toEqual({
      sourceId: 'dc_8',
      code: 'unavailable',
      message: expect.stringContaining('POST /v1/sources/{id}/run'),
    });
    expect(failures).toHaveLength(1);
  });

  // docs/reference/rest-api.md#app-events-limits
  it.each<[string, number, number, string, RegExp]>([
    ['payload', 1, MAX_PAYLOAD + 1, 'request.too_large', /payload has 524289 bytes, the limit is 524288/],
    ['sources', 1_001, 10, 'source.too_many_matches', /1001 sources take this event, at most 1000/],
    ['bytes in all', 200, MAX_PAYLOAD, 'request.too_large', /524288 bytes for each of 200 sources, 104857600 in all/],
  ])('is refused as a whole beyond the limit of %s', async (_, count, bytes, code, text) => {
    const { log, send } = await setUp(count);
    const refused = send({ payload: JSON.stringify('x'.repeat(bytes - 2)) });
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(text) });
    expect(log.published).toEqual([]);
  });
});
