import { describe, expect, it } from '@jest/globals';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { UnreadLimits } from '#libs/stream-log/unread-limits.js';
import { answerOk, answerWith, harnessForEach, idsAt, until, type WorkerHarness } from './testing/worker-harness.js';
import { type WebhookWorker } from './webhook-worker.js';

/** The limit of a webhook's unread bytes bounds the backlog of its dead endpoint in the due store. */
const harness = harnessForEach();
const LIMIT = 100_000;
const PAD = 'x'.repeat(2_000);
/** Several times the limit. */
const COUNT = 200;
const BREAKER = { failuresInRow: 3, failureRate: 0.7, minSamples: 20, openMs: 50, maxOpenMs: 50, jitter: 0 };
const RETRIES = { delaysMs: Array.from({ length: 1_000 }, () => 50), jitter: 0, maxRetryAfterMs: 60_000 };

const limitsOf = (h: WorkerHarness, worker: WebhookWorker, isCounted: boolean): UnreadLimits => {
  const limits = new UnreadLimits({
    topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
    settings: { laneBytes: LIMIT, emitsBytes: LIMIT, workspaceBytes: 1e9 },
    sources: () => [],
    now: () => 0,
  });
  limits.count({
    invocations: () => 0,
    emits: () => 0,
    deliveries: (lane) => worker.unreadBytesOf(lane),
    waiting: (webhookId) => (isCounted ? h.due.bytesOf(webhookId) : 0),
  });
  return limits;
};

/** Publishes as the router does: one by one, and none while the webhook is full. Returns how many were published. */
const handOver = async (h: WorkerHarness, limits: UnreadLimits, id: string, from: number): Promise<number> => {
  for (let n = from; n <= COUNT; n++) {
    if (limits.isFull(`deliveries.${id}`)) return n - 1;
    const delivery = h.delivery(id, n);
    await h.log.publish([{ ...delivery, value: JSON.stringify(PAD) }]);
    // Every delivery has gone to the endpoint or into the due store.
    await until(() => h.lag(id) === 0);
  }
  return COUNT;
};

describe('the due store of a dead webhook', () => {
  it('stops growing at the limit, delays no other webhook, and is delivered completely once the endpoint recovers', async () => {
    const h = harness();
    let answer = answerWith(503);
    const dead = await h.sink((...request) => answer(request[0], request[1]));
    const live = await h.sink(answerOk);
    await h.webhook('wh_dead', dead.url);
    await h.webhook('wh_live', live.url);
    const worker = await h.start({ retries: RETRIES, breaker: BREAKER });
    const limits = limitsOf(h, worker, true);

    let handedOver = await handOver(h, limits, 'wh_dead', 1);
    expect(handedOver).toBeGreaterThan(LIMIT / 2 / PAD.length);
    expect(handedOver).toBeLessThanOrEqual(LIMIT / PAD.length + 1);
    expect(h.due.bytesOf('wh_dead')).toBeLessThanOrEqual(2 * LIMIT);
    expect(await handOver(h, limits, 'wh_live', 1)).toBe(COUNT);
    await until(() => live.received.length === COUNT);

    answer = answerOk;
    while (handedOver < COUNT) {
      await until(() => !limits.isFull('deliveries.wh_dead'));
      handedOver = await handOver(h, limits, 'wh_dead', handedOver + 1);
    }
    await until(() => h.due.entries.size === 0 && h.lag('wh_dead') === 0);
    expect(new Set(idsAt(dead)).size).toBe(COUNT);
    expect(h.due.bytesOf('wh_dead')).toBe(0);
  });

  it('grows without bound when only its lane is counted (control)', async () => {
    const h = harness();
    const dead = await h.sink(answerWith(503));
    await h.webhook('wh_dead', dead.url);
    const worker = await h.start({ retries: RETRIES, breaker: { ...BREAKER, openMs: 60_000, maxOpenMs: 60_000 } });
    expect(await handOver(h, limitsOf(h, worker, false), 'wh_dead', 1)).toBe(COUNT);
    expect(h.due.bytesOf('wh_dead')).toBeGreaterThan(4 * LIMIT - LIMIT / 2);
  });
});
