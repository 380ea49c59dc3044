import { afterEach, describe, expect, it } from '@jest/globals';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { type AttemptCounts, packAttempts, type RecordedOutcome } from '#libs/stream-log/attempt-records.js';
import { countsText, type HourCounts, NO_COUNTS, withCounted } from '#libs/stream-log/hour-counts.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { attemptAt } from '#libs/stream-log/testing/attempts.js';
import { closeWorlds, world } from '../testing/webhooks-world.js';

afterEach(closeWorlds);

const LIST = '/v1/workspaces/o_1/webhooks';
const T0 = 1_700_000_000_000;
let n = 0;

/** Counts deliveries as a process of the webhook worker does. */
const process = (epoch: string) => {
  const counted = new Map<string, HourCounts>();
  return (webhookId: string, outcome: RecordedOutcome, at: number): AttemptCounts => {
    const [events, errors] = [outcome === 'success' ? 1 : 0, outcome === 'final' ? 1 : 0];
    const counts = withCounted(counted.get(webhookId) ?? NO_COUNTS, at, { events, errors });
    counted.set(webhookId, counts);
    return { epoch, text: () => countsText(counts) };
  };
};

/** Records of attempts at a webhook, as a process packs them. */
const attempts = (
  counts: ReturnType<typeof process>,
  webhookId: string,
  ...outcomes: RecordedOutcome[]
): readonly LogRecord[] =>
  packAttempts(
    outcomes.map((outcome) => {
      const at = T0 + ++n;
      return attemptAt(n, { key: webhookId, outcome, value: { ts: at }, counts: counts(webhookId, outcome, at) });
    }),
  ).map(({ record }) => record);

// docs/reference/rest-api.md#webhooks-of-workspace
describe('GET /v1/workspaces/{id}/webhooks', () => {
  const three = async () => {
    const t = await world();
    const [a, b, c] = [
      await t.create('url=https://example.com/orders&name=First'),
      await t.create('url=https://example.com/hook&name=Second'),
      await t.create('url=https://example.com/third'),
    ];
    const idsOf = async (query: Record<string, string>, key?: string): Promise<readonly unknown[]> =>
      itemsOf(await t.call('get', LIST, key).query(query)).map(({ id }) => id);
    return { ...t, a: a.id, b: b.id, c: c.id, idsOf };
  };

  it('lists those of all members, newest first and paged, and finds them by name, URL and active', async () => {
    const { a, b, c, call, idsOf } = await three();
    expect(await idsOf({}, 'colleague')).toEqual([c, b, a]);
    expect(await idsOf({ limit: '1', after: Buffer.from(c).toString('base64') })).toEqual([b]);
    expect(await idsOf({ q: 'FIRST' })).toEqual([a]);
    expect(await idsOf({ q: 'orders' })).toEqual([a]);
    await call('put', `/v1/webhooks/${b}`).send({ active: false });
    expect(await idsOf({ active: 'false' })).toEqual([b]);
    expect(await idsOf({ q: 'example', active: 'true', limit: '1' })).toEqual([c]);
    expect(await idsOf({ state: 'disabled' })).toEqual([]);
    expect((await call('get', LIST, 'other')).status).toBe(403);
    for (const wrong of [{ state: 'broken' }, { active: 'perhaps' }, { q: '' }])
      expect(errorOf(await call('get', LIST).query(wrong))).toMatchObject({ status: 400, code: 'invalid_parameter' });
  });

  // docs/reference/rest-api.md#webhooks-stats
  it('counts deliveries by their final outcome, of every process and each once', async () => {
    const { a, b, call, recorded, idsOf } = await three();
    const [first, second] = [process('proc_1'), process('proc_2')];
    const all = [
      ...attempts(first, a, 'success', 'retry', 'success'),
      ...attempts(first, a, 'success'),
      ...attempts(second, a, 'final', 'success'),
      ...attempts(second, b, 'success'),
    ];
    await recorded(...all);
    // As after a crash of the log's writer.
    await recorded(...all.slice(1));
    const listed = itemsOf(await call('get', LIST).query({ include_stats: 'true' }));
    expect(listed.map(({ stats }) => stats)).toEqual([
      { delivered_24h: 0, failed_24h: 0, waiting: 3, last_attempt_at: null },
      { delivered_24h: 1, failed_24h: 0, waiting: 3, last_attempt_at: T0 + n },
      { delivered_24h: 4, failed_24h: 1, waiting: 3, last_attempt_at: T0 + n - 1 },
    ]);
    expect(listed[0]).not.toHaveProperty('signing_key');
    expect(await idsOf({ state: 'failing' })).toEqual([a]);
  });

  it('has those among the failing ones whose newest attempt failed, and no longer once one succeeds', async () => {
    const { c, recorded, idsOf } = await three();
    const counts = process('proc_1');
    await recorded(...attempts(counts, c, 'retry'));
    expect(await idsOf({ state: 'failing' })).toEqual([c]);
    await recorded(...attempts(counts, c, 'success'));
    expect(await idsOf({ state: 'failing' })).toEqual([]);
  });
});
