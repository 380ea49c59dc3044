import { describe, expect, it } from '@jest/globals';
import { FAST_RETRIES, harnessForEach, idsAt, until } from './testing/worker-harness.js';

describe('startWebhookWorker: many workers', () => {
  const harness = harnessForEach();

  it('attempts a delivery once that is in its lane twice, and acknowledges both records', async () => {
    const h = harness();
    const answers: (() => void)[] = [];
    const receiver = await h.sink((_, res) => void answers.push(() => void res.end()));
    await h.webhook('wh_a', receiver.url);
    await h.start();
    await h.deliver('wh_a', 1);
    await receiver.got(1);
    await h.deliver('wh_a', 2);
    await receiver.got(2);
    expect(h.lag('wh_a')).toBe(3);
    for (const answer of answers) answer();
    await until(() => h.lag('wh_a') === 0);
    expect(idsAt(receiver)).toEqual(['dlv_wh_a_1', 'dlv_wh_a_2']);
    expect(h.attempts()).toHaveLength(2);
  });

  it('starts no later attempt of a delivery while a repeated earlier one is in flight', async () => {
    const h = harness();
    const answers: (() => void)[] = [];
    const receiver = await h.sink((_, res) => void answers.push(() => void res.end()));
    await h.webhook('wh_a', receiver.url);
    await h.start();
    const first = h.delivery('wh_a', 1);
    const second = { ...first, headers: { ...first.headers, attempt: '2' } };
    await h.log.publish([first, second, h.delivery('wh_a', 2)]);
    await receiver.got(1);
    answers[0]?.();
    await receiver.got(3);
    expect(receiver.received.slice(0, 2).map(({ headers }) => headers['x-pd-attempt'])).toEqual(['1', '2']);
    for (const answer of answers) answer();
    await until(() => h.lag('wh_a') === 0);
  });

  it('records deliveries in flight before another worker gets the lane, and leaves it the rest', async () => {
    const h = harness();
    const answers: (() => void)[] = [];
    const receiver = await h.sink((_, res) => void answers.push(() => void res.writeHead(500).end()));
    await h.webhook('wh_a', receiver.url);
    const first = await h.start({ retries: { ...FAST_RETRIES, delaysMs: [60_000] } });
    await h.deliver('wh_a', 4);
    await receiver.got(2);
    const second = await h.start({ retries: { ...FAST_RETRIES, delaysMs: [60_000] } });
    for (const answer of answers.splice(0)) answer();
    await receiver.got(4);
    expect([first.inFlight(), second.inFlight()]).toEqual([0, 2]);
    expect([...h.due.entries.keys()].sort()).toEqual(['dlv_wh_a_1/2.0', 'dlv_wh_a_2/2.0']);
    for (const answer of answers) answer();
    await until(() => h.lag('wh_a') === 0);
    expect(idsAt(receiver)).toEqual([1, 2, 3, 4].map((n) => `dlv_wh_a_${n}`));
  });

  it('aborts slow deliveries when a lane is revoked, so that none is in flight twice', async () => {
    const h = harness();
    const closed: string[] = [];
    const receiver = await h.sink(({ headers }, res, count) => {
      if (count > 1) return void res.end();
      res.on('close', () => closed.push(`${String(headers['webhook-id'])} before ${receiver.received.length}`));
    });
    await h.webhook('wh_a', receiver.url, { timeoutMs: 30_000 });
    await h.start({ revokeMs: 20 });
    await h.deliver('wh_a', 1);
    await receiver.got(1);
    await h.start();
    await h.attemptsRecorded(1);
    await until(() => h.lag('wh_a') === 0);
    expect(closed).toHaveLength(1);
    expect(idsAt(receiver)).toEqual(['dlv_wh_a_1', 'dlv_wh_a_1']);
    expect(h.attempts().map(({ headers }) => headers.outcome)).toEqual(['success']);
  });

  it('leaves retries to a pump elsewhere, which finds them by polling and can be restarted', async () => {
    const h = harness();
    let refuse = (): void => undefined;
    const receiver = await h.sink((_, res, count) => {
      refuse = () => void res.writeHead(500).end();
      if (count === 1) refuse();
      else if (count === 3) res.end();
    });
    await h.webhook('wh_a', receiver.url);
    const first = h.startPump();
    await h.start({}, { pump: 'elsewhere' });
    await h.deliver('wh_a', 1);
    await receiver.got(2);
    await first.close();
    refuse();
    await until(() => h.due.entries.size === 1);
    const second = h.startPump();
    await h.attemptsRecorded(3);
    await second.close();
    expect(h.attempts().map(({ headers }) => headers.outcome)).toEqual(['retry', 'retry', 'success']);
    expect(h.errors).toEqual([]);
  });
});
