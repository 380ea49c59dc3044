import { describe, expect, it } from '@jest/globals';
import { answerOk, answerWith, FAST_RETRIES, harnessForEach, idsAt, until } from './testing/worker-harness.js';

/** Longer than a test takes. */
const HELD_MS = 600_000;

describe('startWebhookWorker: order, limits and isolation', () => {
  const harness = harnessForEach();

  it('does not hold later events back for a retry', async () => {
    const h = harness();
    const receiver = await h.sink((request, res) => {
      const first = request.headers['webhook-id'] === 'dlv_wh_a_1' && request.headers['x-pd-attempt'] === '1';
      res.writeHead(first ? 500 : 200).end();
    });
    await h.webhook('wh_a', receiver.url, { concurrency: 1 });
    await h.start({ retries: { ...FAST_RETRIES, delaysMs: [50] } });
    await h.deliver('wh_a', 4);
    await h.attemptsRecorded(5);
    expect(idsAt(receiver)).toEqual([1, 2, 3, 4, 1].map((n) => `dlv_wh_a_${n}`));
  });

  it('starts first attempts of a webhook in order, within its concurrency limit', async () => {
    const h = harness();
    let open = 0;
    let most = 0;
    const receiver = await h.sink((_, res) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        res.end();
      });
    });
    await h.webhook('wh_a', receiver.url, { concurrency: 1 });
    await h.webhook('wh_b', receiver.url, { concurrency: 3 });
    await h.start();
    await h.deliver('wh_a', 30);
    await h.attemptsRecorded(30);
    expect(idsAt(receiver)).toEqual(Array.from({ length: 30 }, (_, i) => `dlv_wh_a_${i + 1}`));
    expect(most).toBe(1);
    await h.deliver('wh_b', 30);
    await h.attemptsRecorded(60);
    expect(most).toBeLessThanOrEqual(3);
  });

  it('delays no other endpoint when one hangs, even with all slots of slow endpoints taken', async () => {
    const h = harness();
    const hanging = await h.sink(() => undefined);
    const well = await h.sink(answerOk);
    for (const n of [1, 2, 3, 4, 5, 6]) await h.webhook(`wh_slow${n}`, hanging.url, { timeoutMs: 30_000 });
    await h.webhook('wh_well', well.url);
    const worker = await h.start({ concurrency: 8 });
    await h.deliver('wh_well', 1);
    await h.attemptsRecorded(1);
    for (const n of [1, 2, 3, 4, 5, 6]) await h.deliver(`wh_slow${n}`, 20);
    await hanging.got(4);
    await h.deliver('wh_well', 200, 2);
    await h.attemptsRecorded(201);
    expect(well.received).toHaveLength(201);
    expect(worker.inFlight()).toBe(4);
  });

  it('opens the breaker on a dead endpoint, moves its lane to the due store and recovers by a single probe', async () => {
    const h = harness();
    let dead = true;
    const receiver = await h.sink((_, res) => void res.writeHead(dead ? 503 : 200).end());
    await h.webhook('wh_a', receiver.url, { concurrency: 2 });
    const breaker = {
      failuresInRow: 3,
      failureRate: 1,
      minSamples: 100,
      openMs: HELD_MS,
      maxOpenMs: HELD_MS,
      jitter: 0,
    };
    const delaysMs = Array.from({ length: 50 }, () => HELD_MS);
    const worker = await h.start({ breaker, retries: { ...FAST_RETRIES, delaysMs } });
    await h.deliver('wh_a', 100);
    const allHeld = (): Promise<void> => until(() => h.lag('wh_a') === 0 && h.due.entries.size === 100);
    await allHeld();
    // Three failures, and one that was in flight.
    const tried = receiver.received.length;
    expect(tried).toBeLessThanOrEqual(4);
    expect(worker.pressure.total()).toBe(0);
    // Deliveries that were put off used up no attempt.
    const headers = [...h.due.entries.values()].map(({ record }) => record.headers);
    expect(headers.filter(({ attempt }) => attempt === '1')).toHaveLength(100 - tried);
    for (const probes of [1, 2]) {
      h.aheadMs += HELD_MS;
      await receiver.got(tried + probes);
      await allHeld();
      expect(receiver.received.length).toBe(tried + probes);
    }
    dead = false;
    h.aheadMs += HELD_MS;
    await until(() => h.attempts().filter(({ headers: { outcome } }) => outcome === 'success').length === 100);
    expect(new Set(idsAt(receiver)).size).toBe(100);
    await until(() => h.due.entries.size === 0);
  });

  it('ends deliveries that an open breaker has held for too long', async () => {
    const h = harness();
    const receiver = await h.sink(answerWith(503));
    await h.webhook('wh_a', receiver.url);
    const breaker = { failuresInRow: 1, failureRate: 1, minSamples: 100, openMs: 60_000, maxOpenMs: 60_000, jitter: 0 };
    await h.start({ breaker, maxAgeMs: 1000, retries: { ...FAST_RETRIES, delaysMs: [60_000] } });
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    const old = h.delivery('wh_a', 2);
    await h.log.publish([{ ...old, headers: { ...old.headers, at: String(Date.now() - 5000) } }]);
    await h.attemptsRecorded(2);
    expect(h.attempts()[1]).toMatchObject({
      error: 'expired while the endpoint was failing',
      headers: { outcome: 'final' },
    });
  });

  it('counts deliveries that wait for healthy endpoints as pressure', async () => {
    const h = harness();
    let answers = 0;
    const receiver = await h.sink((_, res) => {
      if (answers++ === 0) res.end();
    });
    const hanging = await h.sink(() => undefined);
    await h.webhook('wh_a', receiver.url);
    await h.webhook('wh_hanging', hanging.url);
    const worker = await h.start();
    await h.deliver('wh_hanging', 50);
    await hanging.got(2);
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    await h.deliver('wh_a', 50);
    await receiver.got(3);
    await until(() => worker.pressure.total() === 50);
  });

  it('postpones a due delivery in the due store while the breaker is open, without using its lane', async () => {
    const h = harness();
    const receiver = await h.sink(answerWith(503));
    await h.webhook('wh_a', receiver.url);
    const breaker = { failuresInRow: 1, failureRate: 1, minSamples: 100, openMs: 60_000, maxOpenMs: 60_000, jitter: 0 };
    await h.start({ breaker });
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    await until(() => ([...h.due.entries.values()][0]?.dueAt ?? 0) > Date.now() + 30_000);
    expect(receiver.received).toHaveLength(1);
    expect(h.log.recordsOf('deliveries.wh_a')).toHaveLength(1);
    expect([...h.due.entries.keys()]).toEqual(['dlv_wh_a_1/2.0']);
  });

  it('serves a lane of many webhooks, a hanging one among them', async () => {
    const h = harness();
    const hanging = await h.sink(() => undefined);
    const well = await h.sink(answerOk);
    await h.webhook('wh_well', well.url);
    await h.webhook('wh_slow', hanging.url, { timeoutMs: 30_000 });
    await h.start();
    const mixed = [1, 2, 3, 4, 5].flatMap((n) => [h.delivery('wh_slow', n), h.delivery('wh_well', n)]);
    await h.log.publish(mixed.map((record) => ({ ...record, topic: 'deliveries.wh_well' })));
    await h.attemptsRecorded(5);
    expect(idsAt(well)).toHaveLength(5);
  });
});
