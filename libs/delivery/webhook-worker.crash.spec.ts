import { describe, expect, it } from '@jest/globals';
import { answerWith, FAST_RETRIES, harnessForEach, idsAt, until } from './testing/worker-harness.js';

describe('startWebhookWorker: crashes and shutdown', () => {
  const harness = harnessForEach();

  it('loses nothing and keeps the ids when it crashes before the acknowledgement', async () => {
    const h = harness();
    const receiver = await h.sink((_, res, count) => void res.writeHead(count <= 2 ? 500 : 200).end());
    await h.webhook('wh_a', receiver.url);
    // Hangs between the put to the due store and the attempt record, as if the process were killed there.
    h.log.beforePublish = (records) => (records[0]?.topic === 'attempts' ? new Promise(() => undefined) : undefined);
    await h.start({ retries: { ...FAST_RETRIES, delaysMs: [60_000] }, closeMs: 1 });
    await h.deliver('wh_a', 1);
    await until(() => receiver.received.length >= 1 && h.due.entries.size === 1);
    h.log.crash();
    expect(h.lag('wh_a')).toBeGreaterThan(0);

    h.log.beforePublish = () => undefined;
    await h.start({ retries: { ...FAST_RETRIES, delaysMs: [1, 1, 1] } });
    await until(() => h.attempts().some(({ headers }) => headers.outcome === 'success'));
    await until(() => h.due.entries.size === 0 && h.lag('wh_a') === 0);
    expect(new Set(idsAt(receiver))).toEqual(new Set(['dlv_wh_a_1']));
  });

  it('loses nothing when it crashes between publishing a due retry and setting it out', async () => {
    const h = harness();
    const receiver = await h.sink((_, res, count) => void res.writeHead(count === 1 ? 500 : 200).end());
    await h.webhook('wh_a', receiver.url);
    h.due.beforeSetOut = () => new Promise(() => undefined);
    h.due.beforeRemove = () => new Promise(() => undefined);
    await h.start({ closeMs: 1 });
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(2);
    h.log.crash();
    expect(h.due.entries.size).toBe(1);
    h.due.beforeSetOut = () => undefined;
    h.due.beforeRemove = () => undefined;
    await h.start();
    await h.attemptsRecorded(3);
    await until(() => h.due.entries.size === 0 && h.lag('wh_a') === 0);
    expect(new Set(idsAt(receiver))).toEqual(new Set(['dlv_wh_a_1']));
  });

  it('keeps the next retry when the published one fails before it is removed', async () => {
    const h = harness();
    const receiver = await h.sink((_, res, count) => void res.writeHead(count < 3 ? 500 : 200).end());
    await h.webhook('wh_a', receiver.url);
    let freed: (() => void) | undefined;
    h.due.beforeRemove = (ids) =>
      ids[0] === 'dlv_wh_a_1/2.0' ? new Promise((resolve) => (freed = resolve)) : undefined;
    await h.start();
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(2);
    expect([...h.due.entries.keys()].sort()).toEqual(['dlv_wh_a_1/2.0', 'dlv_wh_a_1/3.0']);
    await until(() => freed !== undefined);
    freed?.();
    await h.attemptsRecorded(3);
    expect(h.attempts()[2]!.headers.outcome).toBe('success');
  });

  it('retries a failed write and acknowledges only after it succeeds', async () => {
    const h = harness();
    const receiver = await h.sink((_, res, count) => void res.writeHead(count === 1 ? 500 : 200).end());
    await h.webhook('wh_a', receiver.url);
    let puts = 0;
    let publishes = 0;
    h.due.beforePut = () => (++puts === 1 ? Promise.reject(new Error('disk full')) : undefined);
    h.log.beforePublish = (records) => {
      if (records[0]?.topic !== 'attempts' || ++publishes > 1) return;
      expect(h.lag('wh_a')).toBe(1);
      throw new Error('disk full');
    };
    await h.start();
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(2);
    await until(() => h.lag('wh_a') === 0);
    expect(h.errors).toHaveLength(2);
    expect(receiver.received).toHaveLength(2);
  });

  it('drops a retry of a deleted webhook', async () => {
    const h = harness();
    const receiver = await h.sink(answerWith(500));
    await h.webhook('wh_a', receiver.url);
    await h.start({ retries: { ...FAST_RETRIES, delaysMs: [30] } });
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    await h.log.deleteTopic('deliveries.wh_a');
    await until(() => h.due.entries.size === 0);
    expect(receiver.received).toHaveLength(1);
  });

  it('finishes deliveries in flight on close, and leaves the rest in the lane', async () => {
    const h = harness();
    const answers: (() => void)[] = [];
    const receiver = await h.sink((_, res) => void answers.push(() => void res.end()));
    await h.webhook('wh_a', receiver.url);
    const worker = await h.start({ closeMs: 10_000 });
    await h.deliver('wh_a', 10);
    await receiver.got(2);
    const closed = worker.close();
    for (const answer of answers) answer();
    await closed;
    expect(h.attempts()).toHaveLength(2);
    expect(h.lag('wh_a')).toBe(8);
    await h.start();
    await until(() => answers.length >= 4);
    expect(idsAt(receiver).slice(2, 4)).toEqual(['dlv_wh_a_3', 'dlv_wh_a_4']);
  });

  it('aborts hanging deliveries on close without acknowledging them', async () => {
    const h = harness();
    const receiver = await h.sink(() => undefined);
    await h.webhook('wh_a', receiver.url, { timeoutMs: 30_000 });
    const worker = await h.start({ closeMs: 20 });
    await h.deliver('wh_a', 1);
    await receiver.got(1);
    await worker.close();
    expect(h.attempts()).toEqual([]);
    expect(h.due.entries.size).toBe(0);
    expect(h.lag('wh_a')).toBe(1);
  });
});
