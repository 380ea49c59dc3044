import { afterEach, describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { DuePump } from './due-pump.js';
import { type DueEntry, type ReadEntry } from './due-store.js';
import { InMemoryDueStore } from './testing/in-memory-due-store.js';

const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });
const DUE = 1_000;

const entry = (webhook: string, n: number, dueAt = n): DueEntry => ({
  id: `${webhook}/${n}`,
  owner: webhook,
  kind: 'delivery',
  dueAt,
  record: { key: webhook, headers: { id: `${webhook}/${n}`, webhook }, value: String(n) },
});
const several = (webhook: string, count: number): DueEntry[] =>
  Array.from({ length: count }, (_, n) => entry(webhook, n));

/** A store that counts its reads, and its queries for the next due time. */
class CountedStore extends InMemoryDueStore {
  reads = 0;
  looks = 0;

  override nextDueAt(): Promise<number | undefined> {
    this.looks++;
    return super.nextDueAt();
  }

  override dueBy(...args: Parameters<InMemoryDueStore['dueBy']>): Promise<readonly ReadEntry[]> {
    this.reads++;
    return super.dueBy(...args);
  }
}

/** Gives up after 20 s, so that a failed test leaves no loop behind. */
const until = async (done: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !done(); await new Promise((resolve) => setTimeout(resolve, 2))) {
    if (Date.now() > end) throw new Error(`still waiting for ${done.toString()}`);
  }
};

const pumps: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(pumps.splice(0).map((pump) => pump.close()));
});

const world = async (...webhooks: readonly string[]) => {
  const log = new InMemoryStreamLog();
  for (const id of webhooks) await log.createTopic(`deliveries.${id}`);
  const due = new CountedStore();
  const errors: string[] = [];
  const logger = {
    error: (fields: object) => void errors.push(String((fields as { err: Error }).err)),
  };
  const time = { now: DUE };
  const start = (mostCharacters = 1 << 20) => {
    const clock = { now: () => time.now };
    const pump = new DuePump({ log, due, topics, clock, pollMs: 60_000, logger, mostCharacters }).start();
    pumps.push(pump);
    return pump;
  };
  const valuesOf = (id: string): string[] => log.recordsOf(`deliveries.${id}`).map(({ value }) => value);
  return { log, due, errors, logger, time, start, valuesOf };
};
const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));

describe('the due pump, while the lane of one webhook cannot be written', () => {
  it('moves the deliveries of the others, also those that are due later than a batch of the one', async () => {
    const { log, due, start, valuesOf } = await world('wh_off', 'wh_on');
    log.hang('deliveries.wh_off');
    await due.put([...several('wh_off', 600), ...several('wh_on', 3).map((each) => ({ ...each, dueAt: 700 }))]);
    start();
    await until(() => valuesOf('wh_on').length === 3);
    expect(valuesOf('wh_off')).toEqual([]);
    // The process holds no more than one batch of it.
    expect(log.hangingOf('deliveries.wh_off')).toBeLessThanOrEqual(256);
    await until(() => due.waiting === 600);
    const reads = due.reads;
    for (let turn = 0; turn < 200; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    // It does not spin, but waits for the next poll or for the lane.
    expect(due.reads - reads).toBeLessThanOrEqual(1);
    log.recover('deliveries.wh_off');
    await until(() => due.waiting === 0);
    expect(valuesOf('wh_off')).toEqual(numbers(600));
    expect(valuesOf('wh_on')).toEqual(numbers(3));
  });

  it('keeps their order over refusals and entries that arrive in the meantime, and publishes each once', async () => {
    const { log, due, errors, start, valuesOf } = await world('wh_off');
    log.hang('deliveries.wh_off');
    await due.put(several('wh_off', 3));
    start();
    for (const n of [3, 4]) {
      await until(() => log.hangingOf('deliveries.wh_off') === 3);
      await due.put([entry('wh_off', n)]);
      log.refuse('deliveries.wh_off');
    }
    await until(() => log.hangingOf('deliveries.wh_off') === 3);
    log.recover('deliveries.wh_off');
    await until(() => due.waiting === 0);
    expect(valuesOf('wh_off')).toEqual(numbers(5));
    expect(errors).toEqual(['Error: deliveries.wh_off has no leader']);
  });

  it.each([
    ['many', Array.from({ length: 1_024 }, (_, n) => entry(`wh_${n}`, 0))],
    [
      'large',
      [{ ...entry('wh_0', 0), record: { key: 'wh_0', headers: { webhook: 'wh_0' }, value: 'x'.repeat(10_000) } }],
    ],
  ])('reads no more while the entries in flight are too %s', async (_, entries) => {
    const { log, due, start, valuesOf } = await world('wh_on', ...entries.map(({ owner }) => owner));
    const lanes = entries.map(({ owner }) => `deliveries.${owner}`);
    for (const lane of lanes) log.hang(lane);
    await due.put(entries);
    start(5_000);
    await until(() => lanes.every((lane) => log.hangingOf(lane) === 1));
    for (const n of [1, 2]) {
      const { looks } = due;
      await due.put([entry('wh_on', n)]);
      await until(() => due.looks >= looks + 2);
    }
    expect(valuesOf('wh_on')).toEqual([]);
    for (const lane of lanes) log.recover(lane);
    await until(() => due.waiting === 0);
    expect(valuesOf('wh_on')).toEqual(['1', '2']);
  });

  it('leaves them in the store for the next pump when it is closed', async () => {
    const { log, due, start, valuesOf } = await world('wh_off', 'wh_on');
    log.hang('deliveries.wh_off');
    await due.put([...several('wh_off', 3), ...several('wh_on', 1)]);
    const first = start();
    await until(() => valuesOf('wh_on').length === 1);
    await first.close();
    log.refuse('deliveries.wh_off');
    expect(due.waiting).toBe(3);
    log.recover('deliveries.wh_off');
    start();
    await until(() => due.waiting === 0);
    expect(valuesOf('wh_off')).toEqual(numbers(3));
  });

  it('publishes nothing twice when the store does not note what was published', async () => {
    const { due, start, valuesOf } = await world('wh_on');
    await due.put(several('wh_on', 3));
    let refusals = 0;
    due.beforeSetOut = () => {
      if (refusals++ < 2) throw new Error('the store is away');
    };
    start();
    await until(() => due.waiting === 0);
    expect(refusals).toBe(3);
    expect(valuesOf('wh_on')).toEqual(numbers(3));
  });
});

// docs/reference/delivery.md#retry-durable
describe('an entry that is out', () => {
  const MINUTE = 60_000;
  const again = async (start: () => { close(): Promise<void> }): Promise<void> => start().close();

  it('waits until it has ended, and is published again under its id after a minute, then after twice as long', async () => {
    const { log, due, time, start } = await world('wh_1');
    await due.put(several('wh_1', 1));
    const copies = (): (string | undefined)[] =>
      log.recordsOf('deliveries.wh_1').map(({ headers }) => headers['again']);
    const pumpedAt = async (now: number): Promise<(string | undefined)[]> => {
      time.now = now;
      const pump = start();
      await until(() => [...due.entries.values()].every(({ since }) => since > now));
      await pump.close();
      return copies();
    };
    expect(await pumpedAt(DUE)).toEqual([undefined]);
    expect(await due.waitingOf('wh_1')).toMatchObject([{ dueAt: entry('wh_1', 0).dueAt }]);
    expect(await pumpedAt(DUE + MINUTE - 1)).toEqual([undefined]);
    expect(await pumpedAt(DUE + MINUTE)).toEqual([undefined, '1']);
    expect(await pumpedAt(DUE + 3 * MINUTE - 1)).toEqual([undefined, '1']);
    expect(await pumpedAt(DUE + 3 * MINUTE)).toEqual([undefined, '1', '2']);
    const { headers } = log.recordsOf('deliveries.wh_1')[2]!;
    expect(headers).toMatchObject({ id: 'wh_1/0', entry: entry('wh_1', 0).id });
    await due.remove([entry('wh_1', 0).id]);
    time.now = DUE + 60 * MINUTE;
    await again(start);
    expect(copies()).toHaveLength(3);
  });

  it('leaves the store at once when its topic is gone, and so does what no consumer removes', async () => {
    const { log, due, start } = await world();
    await log.createTopic('invocations.dc_1');
    const invocation = { key: 'dc_1', headers: { source: 'dc_1' }, value: '1' };
    await due.put([
      ...several('wh_gone', 2),
      { id: 'r/1', owner: 'sub_1', kind: 'replay', dueAt: 0, record: invocation },
    ]);
    start();
    await until(() => due.entries.size === 0);
    expect(log.recordsOf('invocations.dc_1').map(({ headers }) => headers)).toEqual([{ source: 'dc_1' }]);
  });
});

describe('the due pump', () => {
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  };

  it('publishes by due time and then by id, in bounded batches, each once', async () => {
    const { due, start, valuesOf } = await world('wh_1');
    const padded = (n: number, dueAt: number): DueEntry => ({
      ...entry('wh_1', n, dueAt),
      id: String(n).padStart(3, '0'),
    });
    await due.put([...Array.from({ length: 600 }, (_, n) => padded(n + 1, 90)), padded(700, 80)]);
    await due.put([padded(701, DUE + 1)]);
    start();
    await until(() => due.waiting === 1);
    expect(valuesOf('wh_1')).toEqual(['700', ...numbers(601).slice(1)]);
  });

  it('publishes on time an entry that this process puts, without another read of the store', async () => {
    const { due, time, start, valuesOf } = await world('wh_1');
    start();
    await turns();
    await due.put([entry('wh_1', 1, DUE + 50)]);
    await turns();
    expect(valuesOf('wh_1')).toEqual([]);
    time.now = DUE + 50;
    // The next poll is a minute away.
    await until(() => valuesOf('wh_1').length === 1);
  });

  it('says whose owner is gone before it removes the entries, and keeps them while that fails', async () => {
    const { log, due, errors, logger, time } = await world();
    const announcement = { key: 'dc_1', headers: { kind: 'due', emitter: 'dc_1', event: '1-0' }, value: 'null' };
    await due.put([{ id: 'a', owner: 'dc_1', kind: 'delayed', dueAt: 0, record: announcement }]);
    const told: string[][] = [];
    const pump = new DuePump({
      log,
      due,
      topics,
      clock: { now: () => time.now },
      pollMs: 1,
      onOwnerGone: async (entries) => {
        expect(due.entries.size).toBe(1);
        told.push(entries.map(({ id }) => id));
        if (told.length === 1) throw new Error('the store is away');
      },
      logger,
    }).start();
    pumps.push(pump);
    await until(() => due.entries.size === 0);
    expect([told, errors]).toEqual([[['a'], ['a']], ['Error: the store is away']]);
  });

  it('publishes the record again, under its ids, when it dies before it sets the entry out', async () => {
    const { log, due, start, valuesOf } = await world('wh_1');
    await due.put(several('wh_1', 3));
    due.beforeSetOut = () => Promise.reject(new Error('killed'));
    const first = start();
    await until(() => valuesOf('wh_1').length === 3);
    await first.close();
    expect(due.waiting).toBe(3);
    due.beforeSetOut = () => undefined;
    start();
    await until(() => due.waiting === 0);
    const ids = log.recordsOf('deliveries.wh_1').map(({ headers }) => headers['id']);
    expect(ids).toEqual([...ids.slice(0, 3), ...ids.slice(0, 3)]);
  });

  it('sets an entry out once when two pumps publish it at once', async () => {
    const { due, start, valuesOf } = await world('wh_1');
    await due.put(several('wh_1', 3));
    let arrived = 0;
    let go = (): void => undefined;
    const both = new Promise<void>((resolve) => (go = resolve));
    due.beforeSetOut = () => {
      if (++arrived === 2) go();
      return both;
    };
    start();
    start();
    await until(() => due.waiting === 0);
    await turns();
    expect(valuesOf('wh_1').sort()).toEqual(['0', '0', '1', '1', '2', '2']);
    expect([...due.entries.values()].map(({ since, timesOut }) => [since, timesOut])).toEqual(
      Array.from({ length: 3 }, () => [DUE + 60_000, 1]),
    );
  });

  it('leaves an entry waiting that was put again while its record was in flight', async () => {
    const { due, time, start, valuesOf } = await world('wh_1');
    await due.put([entry('wh_1', 1)]);
    let puts = 0;
    due.beforeSetOut = async () => {
      if (puts++ === 0) await due.put([entry('wh_1', 1, DUE + 10)]);
    };
    start();
    await until(() => puts === 1);
    await turns();
    expect([...due.entries.values()]).toMatchObject([{ dueAt: DUE + 10, since: DUE + 10, timesOut: 0 }]);
    time.now = DUE + 10;
    await until(() => valuesOf('wh_1').length === 2);
  });
});
