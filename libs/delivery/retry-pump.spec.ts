import { afterEach, describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { startRetryPump } from './retry-pump.js';
import { type DueRetry, type ScheduledRetry } from './retry-schedule.js';
import { InMemoryRetrySchedule } from './testing/in-memory-retry-schedule.js';
import { until } from './testing/worker-harness.js';

const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });
const DUE = 1_000;

const entry = (webhook: string, n: number, dueAt = n): ScheduledRetry => ({
  id: `${webhook}/${n}`,
  owner: webhook,
  dueAt,
  record: { topic: '', key: webhook, headers: { id: `${webhook}/${n}`, webhook }, value: String(n) },
});
const several = (webhook: string, count: number): ScheduledRetry[] =>
  Array.from({ length: count }, (_, n) => entry(webhook, n));

/** A schedule that counts its reads. */
class CountedSchedule extends InMemoryRetrySchedule {
  reads = 0;

  override due(...args: Parameters<InMemoryRetrySchedule['due']>): Promise<readonly DueRetry[]> {
    this.reads++;
    return super.due(...args);
  }
}

const pumps: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(pumps.splice(0).map((pump) => pump.close()));
});

const world = async (...webhooks: readonly string[]) => {
  const log = new InMemoryStreamLog();
  for (const id of webhooks) await log.createTopic(`deliveries.${id}`);
  const schedule = new CountedSchedule();
  const errors: string[] = [];
  const time = { now: DUE };
  const start = async () => {
    const logger = { error: (fields: object) => errors.push(String((fields as { err: unknown }).err)) };
    const pump = await startRetryPump({
      log,
      schedule,
      topics,
      clock: { now: () => time.now },
      pollMs: 60_000,
      logger,
    });
    pumps.push(pump);
    return pump;
  };
  const valuesOf = (id: string): string[] => log.recordsOf(`deliveries.${id}`).map(({ value }) => value);
  return { log, schedule, errors, time, start, valuesOf };
};
const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));

describe('the retry pump, while the lane of one webhook cannot be written', () => {
  it('moves the deliveries of the others, also those that are due later than a batch of the one', async () => {
    const { log, schedule, start, valuesOf } = await world('wh_off', 'wh_on');
    log.hang('deliveries.wh_off');
    await schedule.put([...several('wh_off', 600), ...several('wh_on', 3).map((each) => ({ ...each, dueAt: 700 }))]);
    await start();
    await until(() => valuesOf('wh_on').length === 3);
    expect(valuesOf('wh_off')).toEqual([]);
    // No more than one batch of it waits in the process.
    expect(log.hangingOf('deliveries.wh_off')).toBeLessThanOrEqual(256);
    await until(() => schedule.notHandedOut === 600);
    const reads = schedule.reads;
    for (let turn = 0; turn < 200; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    // It does not spin: it waits for the next poll, or for the lane.
    expect(schedule.reads - reads).toBeLessThanOrEqual(1);
    log.recover('deliveries.wh_off');
    await until(() => schedule.notHandedOut === 0);
    expect(valuesOf('wh_off')).toEqual(numbers(600));
    expect(valuesOf('wh_on')).toEqual(numbers(3));
  });

  it('keeps their order over refusals and entries that come meanwhile, and publishes each once', async () => {
    const { log, schedule, errors, start, valuesOf } = await world('wh_off');
    log.hang('deliveries.wh_off');
    await schedule.put(several('wh_off', 3));
    await start();
    for (const n of [3, 4]) {
      await until(() => log.hangingOf('deliveries.wh_off') === n);
      await schedule.put([entry('wh_off', n)]);
      log.refuse('deliveries.wh_off');
    }
    await until(() => log.hangingOf('deliveries.wh_off') === 5);
    log.recover('deliveries.wh_off');
    await until(() => schedule.notHandedOut === 0);
    expect(valuesOf('wh_off')).toEqual(numbers(5));
    expect(errors).toEqual(Array.from({ length: 2 }, () => 'Error: deliveries.wh_off has no leader'));
  });

  it('leaves them in the schedule for the next pump when it is closed', async () => {
    const { log, schedule, start, valuesOf } = await world('wh_off', 'wh_on');
    log.hang('deliveries.wh_off');
    await schedule.put([...several('wh_off', 3), ...several('wh_on', 1)]);
    const first = await start();
    await until(() => valuesOf('wh_on').length === 1);
    await first.close();
    log.refuse('deliveries.wh_off');
    expect(schedule.notHandedOut).toBe(3);
    log.recover('deliveries.wh_off');
    await start();
    await until(() => schedule.notHandedOut === 0);
    expect(valuesOf('wh_off')).toEqual(numbers(3));
  });

  it('publishes nothing twice when the schedule does not note what was published', async () => {
    const { schedule, start, valuesOf } = await world('wh_on');
    await schedule.put(several('wh_on', 3));
    let refusals = 0;
    schedule.beforeHandOut = () => {
      if (refusals++ < 2) throw new Error('the schedule is away');
    };
    await start();
    await until(() => schedule.notHandedOut === 0);
    expect(refusals).toBe(3);
    expect(valuesOf('wh_on')).toEqual(numbers(3));
  });
});

// docs/reference/delivery.md#retry-durable
describe('a delivery that the retry pump handed out', () => {
  const MINUTE = 60_000;
  const again = async (start: () => Promise<{ close(): Promise<void> }>): Promise<void> => (await start()).close();

  it('waits until it has ended, and is handed out again under its id after a minute, then after twice as long', async () => {
    const { log, schedule, time, start } = await world('wh_1');
    await schedule.put(several('wh_1', 1));
    const copies = (): (string | undefined)[] =>
      log.recordsOf('deliveries.wh_1').map(({ headers }) => headers['again']);
    const pumpedAt = async (now: number): Promise<(string | undefined)[]> => {
      time.now = now;
      const pump = await start();
      await until(() => [...schedule.entries.values()].every(({ since }) => since > now));
      await pump.close();
      return copies();
    };
    expect(await pumpedAt(DUE)).toEqual([undefined]);
    expect(await schedule.waitingOf('wh_1')).toMatchObject([{ dueAt: entry('wh_1', 0).dueAt }]);
    expect(await pumpedAt(DUE + MINUTE - 1)).toEqual([undefined]);
    expect(await pumpedAt(DUE + MINUTE)).toEqual([undefined, '1']);
    expect(await pumpedAt(DUE + 3 * MINUTE - 1)).toEqual([undefined, '1']);
    expect(await pumpedAt(DUE + 3 * MINUTE)).toEqual([undefined, '1', '2']);
    const { headers } = log.recordsOf('deliveries.wh_1')[2]!;
    expect(headers).toMatchObject({ id: 'wh_1/0', entry: entry('wh_1', 0).id });
    await schedule.remove([entry('wh_1', 0).id]);
    time.now = DUE + 60 * MINUTE;
    await again(start);
    expect(copies()).toHaveLength(3);
  });

  it('leaves the schedule at once when its topic is gone, and so does what is no delivery', async () => {
    const { log, schedule, start } = await world();
    await log.createTopic('invocations.dc_1');
    const invocation = { topic: '', key: 'dc_1', headers: { source: 'dc_1' }, value: '1' };
    await schedule.put([...several('wh_gone', 2), { id: 'r/1', owner: 'sub_1', dueAt: 0, record: invocation }]);
    await start();
    await until(() => schedule.entries.size === 0);
    expect(log.recordsOf('invocations.dc_1').map(({ headers }) => headers)).toEqual([{ source: 'dc_1' }]);
  });
});
