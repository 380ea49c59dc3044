import { describe, expect, it } from '@jest/globals';
import { pause } from '#libs/async/pause.js';
import { type HttpSink } from './testing/http-sink.js';
import { answerOk, answerWith, harnessForEach, until } from './testing/worker-harness.js';

const harness = harnessForEach();

const numbersAt = ({ received }: HttpSink): number[] =>
  received.map(({ body }) => (JSON.parse(body) as { n: number }).n);

/** Answers 503 to the first `times` requests. */
const failsFirst = (times: number): typeof answerOk => {
  let left = times;
  return (received, res) => (left-- > 0 ? answerWith(503) : answerOk)(received, res);
};

describe('an ordered webhook', () => {
  it('gets no event before those that wait for their next attempt, and one at a time', async () => {
    const h = harness();
    const receiver = await h.sink(failsFirst(2));
    await h.webhook('wh_a', receiver.url, { ordered: true, concurrency: 1 });
    await h.start();
    await h.deliver('wh_a', 4);
    await until(() => receiver.received.length === 6 && h.lag('wh_a') === 0);
    expect(numbersAt(receiver)).toEqual([1, 1, 1, 2, 3, 4]);
    await until(() => h.due.entries.size === 0);
  });

  it('goes on with the next event once one has failed for good', async () => {
    const h = harness();
    const receiver = await h.sink(failsFirst(4));
    await h.webhook('wh_a', receiver.url, { ordered: true, concurrency: 1 });
    await h.start();
    await h.deliver('wh_a', 2);
    await until(() => receiver.received.length === 5);
    expect(numbersAt(receiver)).toEqual([1, 1, 1, 1, 2]);
  });

  it('keeps its order after a restart, from what waits in the due store', async () => {
    const h = harness();
    const receiver = await h.sink(failsFirst(1));
    await h.webhook('wh_a', receiver.url, { ordered: true, concurrency: 1 });
    const retries = { delaysMs: [1_500], jitter: 0, maxRetryAfterMs: 60_000 };
    const first = await h.start({ retries });
    await h.deliver('wh_a', 2);
    await until(() => receiver.received.length === 1 && h.due.entries.size > 0);
    await first.close();
    await h.start({ retries });
    await h.deliver('wh_a', 1, 3);
    await until(() => receiver.received.length === 4);
    expect(numbersAt(receiver)).toEqual([1, 1, 2, 3]);
  });

  // docs/reference/delivery.md#ordered
  it.each([
    ['the worker', false],
    ['the worker, and the pump before it noted what it published', true],
  ])('lets nothing pass a retry that lies behind newer events in its lane when %s dies', async (_, dies) => {
    const h = harness();
    const receiver = await h.sink(failsFirst(1));
    await h.webhook('wh_a', receiver.url, { ordered: true, concurrency: 1 });
    const first = await h.start({}, { pump: 'elsewhere' });
    await h.deliver('wh_a', 1);
    await until(() => h.due.entries.size === 1 && h.lag('wh_a') === 0);
    h.log.crash();
    await first.close();
    await h.deliver('wh_a', 40, 2);
    if (dies) h.due.beforeSetOut = () => Promise.reject(new Error('killed'));
    const pump = h.startPump();
    await until(() => h.log.recordsOf('deliveries.wh_a').length === 42);
    await until(() => dies || h.due.waiting === 0);
    await pump.close();
    h.due.beforeSetOut = () => undefined;

    await h.start();
    await until(() => new Set(numbersAt(receiver)).size === 41 && h.due.entries.size === 0);
    const firstTimes = [...new Set(numbersAt(receiver))];
    expect(firstTimes).toEqual(Array.from({ length: 41 }, (_each, n) => n + 1));
    // The first event ended before any other began.
    expect(numbersAt(receiver).slice(0, 3)).toEqual([1, 1, 2]);
  });

  // docs/reference/delivery.md#ordered
  it('gets nothing more from a worker that was stopped and may have lost its lane', async () => {
    const h = harness();
    const pending: (() => void)[] = [];
    const receiver = await h.sink((_, res) => void pending.push(() => res.end()));
    await h.webhook('wh_a', receiver.url, { ordered: true, concurrency: 1 });
    let known: (() => void) | undefined;
    let doubt: Promise<void> | undefined;
    let lost = false;
    const consume = h.log.consume.bind(h.log);
    h.log.consume = (options) =>
      consume({
        ...options,
        handler: (batch) => options.handler({ ...batch, inDoubt: () => doubt, revoked: () => lost || batch.revoked() }),
      });
    await h.start();
    await h.deliver('wh_a', 3);
    await until(() => pending.length === 1);
    // After a stop the worker gets the answer to its request before it hears from its group.
    doubt = new Promise((resolve) => (known = resolve));
    pending.shift()?.();
    await h.attemptsRecorded(1);
    lost = true;
    known?.();
    doubt = undefined;
    await pause(50);
    expect(numbersAt(receiver)).toEqual([1]);
  });

  it('sends nothing again that had ended when its record came again', async () => {
    const h = harness();
    const receiver = await h.sink(failsFirst(1));
    await h.webhook('wh_a', receiver.url, { ordered: true, concurrency: 1 });
    await h.start();
    await h.deliver('wh_a', 1);
    await until(() => receiver.received.length === 2 && h.due.entries.size === 0);
    const retry = h.log.recordsOf('deliveries.wh_a')[1]!;
    await h.log.publish([{ ...retry, headers: { ...retry.headers, again: '1' } }]);
    await h.deliver('wh_a', 1, 2);
    await until(() => receiver.received.length === 3 && h.lag('wh_a') === 0);
    expect(numbersAt(receiver)).toEqual([1, 1, 2]);
  });

  it('does not hold back another webhook', async () => {
    const h = harness();
    const [stuck, fine] = [await h.sink(answerWith(503)), await h.sink(answerOk)];
    await h.webhook('wh_a', stuck.url, { ordered: true, concurrency: 1 });
    await h.webhook('wh_b', fine.url, { ordered: true, concurrency: 1 });
    await h.start({ retries: { delaysMs: [60_000], jitter: 0, maxRetryAfterMs: 60_000 } });
    await h.deliver('wh_a', 3);
    await h.deliver('wh_b', 3);
    await until(() => fine.received.length === 3);
    expect(numbersAt(fine)).toEqual([1, 2, 3]);
    expect(stuck.received).toHaveLength(1);
  });
});

describe('a webhook whose deliveries fail for good', () => {
  // docs/reference/rest-api.md#webhook-disabled
  it('is disabled after as many in a row as the setting says, and not before', async () => {
    const h = harness();
    let status = 404;
    const receiver = await h.sink((received, res) => answerWith(status)(received, res));
    await h.webhook('wh_a', receiver.url, { concurrency: 1 });
    await h.start({ disableAfter: 3 });
    await h.deliver('wh_a', 2);
    await h.attemptsRecorded(2);
    status = 200;
    await h.deliver('wh_a', 1, 3);
    await h.attemptsRecorded(3);
    status = 404;
    await h.deliver('wh_a', 2, 4);
    await h.attemptsRecorded(5);
    expect(h.disabled).toEqual([]);
    await h.deliver('wh_a', 1, 6);
    await until(() => h.disabled.length > 0);
    expect(h.disabled).toEqual(['wh_a']);
  });
});
