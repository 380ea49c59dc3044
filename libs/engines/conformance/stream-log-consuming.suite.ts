import { expect, it } from '@jest/globals';
import { eventually } from './eventually.js';
import {
  all,
  follow,
  numberOf,
  read,
  record,
  records,
  refusesAnother,
  type Get,
  type Log,
} from './stream-log-harness.js';

/** Parts of the StreamLog suite (stream-log.suite.ts): topics, publishing and consuming. */

export const topics = ({ port }: { port: Log }): void => {
  it('are listed by prefix, sorted, once', async () => {
    const { log } = port();
    for (const name of ['b.2', 'a.1', 'b.1', 'b.1']) await log.createTopic(name, {});
    expect(await log.topics('b.')).toEqual(['b.1', 'b.2']);
    expect(await log.topics('')).toEqual(['a.1', 'b.1', 'b.2']);
    expect(await log.topics('c.')).toEqual([]);
  });

  it('created twice keep their records', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    await log.publish(records('t', 2));
    await Promise.all([log.createTopic('t', { ageMs: 5 }), log.createTopic('t', { ageMs: 6 })]);
    expect(await read(log, 't')).toEqual([0, 1]);
  });
};

export const publish = ({ port, get }: { port: Log; get: Get }): void => {
  it('answers with an offset per record, increasing', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const offsets = [...(await log.publish(records('t', 3))), ...(await log.publish(records('t', 2, 3)))];
    expect(offsets.every((offset) => Number.isSafeInteger(offset))).toBe(true);
    expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a! - b!));
    const stored = await log.read('t', -1, 10);
    expect(stored.map(({ offset }) => offset)).toEqual(offsets);
    expect(stored[0]).toMatchObject(record('t', 0));
    expect(await log.publish([])).toEqual([]);
  });

  it('gives null for a record of an unknown topic, and keeps the others', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const offsets = await log.publish([record('t', 0), record('none', 1), record('t', 2)]);
    expect(offsets.map((offset) => offset === null)).toEqual([false, true, false]);
    expect(await log.publish([record('none', 1)])).toEqual([null]);
    expect(await read(log, 't')).toEqual([0, 2]);
  });

  it('tells of each record once what became of it', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    await log.createTopic('u', {});
    const told = new Map<number, number | null | Error>();
    const calls = await new Promise<number>((resolve) => {
      let count = 0;
      log.publishEach([record('t', 0), record('none', 1), record('u', 2), record('t', 3)], (index, outcome) => {
        told.set(index, outcome);
        if (++count === 4) resolve(count);
      });
    });
    expect([calls, told.size]).toEqual([4, 4]);
    expect(told.get(1)).toBeNull();
    const [first, last] = (await log.read('t', -1, 9)).map(({ offset }) => offset);
    expect([told.get(0), told.get(3)]).toEqual([first, last]);
    expect(await read(log, 't')).toEqual([0, 3]);
    expect(await read(log, 'u')).toEqual([2]);
  });

  it('stores records that may linger within that time, in the order of the calls, and with later ones that may not', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    await log.publish([record('t', 0)], { lingerMs: 5 });
    await Promise.all([log.publish([record('t', 1)], { lingerMs: 60_000 }), log.publish([record('t', 2)])]);
    const told = new Promise<number | null | Error>((resolve) => {
      log.publishEach([record('t', 3)], (_, outcome) => resolve(outcome), { lingerMs: 60_000 });
    });
    await log.publish([record('t', 4)]);
    expect(typeof (await told)).toBe('number');
    expect(await read(log, 't')).toEqual([0, 1, 2, 3, 4]);
  });

  it('keeps text unchanged', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const odd = { topic: 't', key: 'ключ', headers: { 'a"b': 'ü\n' }, value: '{"t":"東京 \\u0000 😀"}' };
    await log.publish([odd]);
    expect((await log.read('t', -1, 1))[0]).toMatchObject(odd);
  });

  it('is durable once resolved', async () => {
    await port().log.createTopic('t', {});
    await Promise.all(all(20).map((n) => port().log.publish([record('t', n)])));
    const { log } = await get().reopen();
    expect(await read(log, 't')).toEqual(all(20));
    const [next] = await log.publish([record('t', 20)]);
    expect(next).toBeGreaterThan((await log.read('t', -1, 100))[19]!.offset);
  });
};

export const consume = ({ port }: { port: Log }): void => {
  it('starts a new group at the oldest record, then goes on live', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    await log.publish(records('t', 5));
    const { records: seen, consumer } = await follow(log, { topics: { names: ['t'] } });
    await eventually('history', () => seen.length === 5);
    await log.publish(records('t', 5, 5));
    await eventually('live records', () => seen.length === 10);
    expect(seen.map(numberOf)).toEqual(all(10));
    expect(seen[0]).toMatchObject({ ...record('t', 0), lane: expect.any(String) });
    await consumer.close();
  });

  it('gives each group every record', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const a = await follow(log, { group: 'a', topics: { names: ['t'] } });
    await log.publish(records('t', 10));
    const b = await follow(log, { group: 'b', topics: { prefix: 't' } });
    await eventually('both groups', () => a.records.length === 10 && b.records.length === 10);
    await Promise.all([a.consumer.close(), b.consumer.close()]);
  });

  it('consumes topics of a prefix that are created later, and no others', async () => {
    const { log } = port();
    const { records: seen, consumer } = await follow(log, { topics: { prefix: 'in.' } });
    for (const topic of ['in.1', 'out.1', 'in.2']) {
      await log.createTopic(topic, {});
      await log.publish([record(topic, 1)]);
    }
    await eventually('two topics', () => seen.length === 2);
    expect(seen.map(({ topic }) => topic).sort()).toEqual(['in.1', 'in.2']);
    await consumer.close();
  });

  it('hands over no more than maxBatch at a time, nor maxUnacked in all', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    await log.publish(records('t', 50));
    const {
      records: seen,
      batches,
      consumer,
    } = await follow(log, { topics: { names: ['t'] }, maxBatch: 4, maxUnacked: 10 }, false);
    await eventually('ten handed over', () => seen.length === 10);
    await log.publish(records('t', 1, 50));
    expect(seen).toHaveLength(10);
    expect(Math.max(...batches.map((batch) => batch.records.length))).toBeLessThanOrEqual(4);
    batches[0]!.ack(seen[0]!.offset);
    batches[0]!.ack(seen[1]!.offset);
    await eventually('room for two more', () => seen.length === 12);
    await consumer.close();
  });

  it('does not let a slow lane delay another', async () => {
    const { log } = port();
    await log.createTopic('slow', {});
    await log.createTopic('fast', {});
    const release: (() => void)[] = [];
    const fast: number[] = [];
    const consumer = await log.consume({
      group: 'g',
      topics: { names: ['slow', 'fast'] },
      maxBatch: 1,
      maxUnacked: 5,
      handler: async (batch) => {
        if (batch.topic === 'slow') await new Promise<void>((resolve) => release.push(resolve));
        else fast.push(...batch.records.map(numberOf));
        for (const { offset } of batch.records) batch.ack(offset);
      },
    });
    await log.publish([...records('slow', 3), ...records('fast', 20)]);
    await eventually('the fast lane done', () => fast.length === 20);
    expect(release).toHaveLength(1);
    // Batches of one lane never overlap, because each waits for the previous one.
    for (let n = 0; n < 3; n++) {
      await eventually('the next slow record', () => release.length > n);
      expect(release).toHaveLength(n + 1);
      release[n]!();
    }
    await consumer.close();
  });
};

export const order = ({ port }: { port: Log }): void => {
  it('keeps the records of a key in order, under concurrent publishers', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const { records: seen, consumer } = await follow(log, { topics: { names: ['t'] }, maxBatch: 7 });
    const publisher = async (key: string): Promise<void> => {
      for (let n = 0; n < 100; n += 2) await log.publish([record('t', n, key), record('t', n + 1, key)]);
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(publisher));
    await eventually('all of them', () => seen.length === 400);
    for (const key of ['a', 'b', 'c', 'd']) {
      expect(seen.filter((each) => each.key === key).map(numberOf)).toEqual(all(100));
    }
    await consumer.close();
  });

  it('neither misses nor repeats when a consumer falls behind and catches up', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const seen: number[] = [];
    const consumer = await log.consume({
      group: 'g',
      topics: { names: ['t'] },
      maxBatch: 3,
      maxUnacked: 9,
      handler: async (batch) => {
        seen.push(...batch.records.map(numberOf));
        // Publishing from within a handler must not wait for the handler.
        if (seen.length % 30 === 0) await log.publish([record('u', 0)]);
        for (const { offset } of batch.records) batch.ack(offset);
      },
    });
    const published: Promise<unknown>[] = [];
    for (let n = 0; n < 600; n += 20) {
      published.push(log.publish(records('t', 20, n)));
      if (n % 100 === 0) await published.at(-1);
    }
    await Promise.all(published);
    await eventually('all 600', () => seen.length >= 600);
    expect(seen).toEqual(all(600));
    await consumer.close();
  });
};

export const acknowledge = ({ port, get }: { port: Log; get: Get }): void => {
  it('commits up to the first gap and hands over again what is above it', async () => {
    await port().log.createTopic('t', {});
    await port().log.publish(records('t', 6));
    const first = await follow(port().log, { topics: { names: ['t'] } }, false);
    await eventually('six', () => first.records.length === 6);
    const ack = (n: number): void => first.batches.forEach((batch) => batch.ack(first.records[n]!.offset));
    for (const n of [5, 1, 0, 3, 3]) ack(n);
    await first.consumer.close();

    const { log } = await get().reopen();
    const second = await follow(log, { topics: { names: ['t'] } });
    await eventually('from the gap on', () => second.records.length === 4);
    expect(second.records.map(numberOf)).toEqual([2, 3, 4, 5]);
    await second.consumer.close();
  });

  it('is ignored for records never handed over, and for another lane', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const { records: seen, batches, consumer } = await follow(log, { topics: { names: ['t'] } }, false);
    await log.publish(records('t', 2));
    await eventually('two', () => seen.length === 2);
    batches[0]!.ack(1_000_000);
    batches[0]!.ack(-1);
    expect(consumer.backlog()).toBe(2);
    await consumer.close();
    expect(await log.lag('g', { prefix: 't' })).toEqual({ t: 2 });
  });

  it('may come after the handler has resolved, until close', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const { records: seen, batches, consumer } = await follow(log, { topics: { names: ['t'] } }, false);
    await log.publish(records('t', 3));
    await eventually('three', () => seen.length === 3);
    expect(batches[0]!.revoked()).toBe(false);
    for (const batch of batches) for (const { offset } of batch.records) batch.ack(offset);
    await consumer.close();
    expect(batches[0]!.revoked()).toBe(true);
    expect(await log.lag('g', { names: ['t'] })).toEqual({ t: 0 });
  });

  it('waits on close for the running handler', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    let started = false;
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const consumer = await log.consume({
      group: 'g',
      topics: { names: ['t'] },
      maxBatch: 1,
      maxUnacked: 1,
      handler: async (batch) => {
        started = true;
        await finished;
        batch.ack(batch.records[0]!.offset);
      },
    });
    await log.publish(records('t', 3));
    await eventually('the handler', () => started);
    const closing = consumer.close();
    finish();
    await closing;
    expect(await log.lag('g', { names: ['t'] })).toEqual({ t: 2 });
  });
};

export const redeliver = ({ port, get }: { port: Log; get: Get }): void => {
  it('unacknowledged records after a crash', async () => {
    await port().log.createTopic('t', {});
    await port().log.publish(records('t', 10));
    const first = await follow(port().log, { topics: { names: ['t'] } }, false);
    await eventually('ten', () => first.records.length === 10);
    for (const { offset } of first.records.slice(0, 4)) first.batches[0]!.ack(offset);
    const { log } = await get().reopen();
    const second = await follow(log, { topics: { names: ['t'] } });
    // At least once: the adapter may deliver records again whose commit it had not stored yet.
    await eventually('the last', () => second.records.some((each) => numberOf(each) === 9));
    expect(second.records.map(numberOf).filter((n) => n >= 4)).toEqual(all(6, 4));
    await second.consumer.close();
  });

  it('the rest of a batch whose handler rejects, in order, and counts it', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const calls: number[][] = [];
    const consumer = await log.consume({
      group: 'g',
      topics: { names: ['t'] },
      maxBatch: 3,
      maxUnacked: 100,
      handler: async (batch) => {
        calls.push(batch.records.map(numberOf));
        batch.ack(batch.records[0]!.offset);
        if (calls.length === 1) throw new Error('the handler fails');
        for (const { offset } of batch.records) batch.ack(offset);
      },
    });
    await log.publish(records('t', 5));
    await eventually('all acknowledged', () => consumer.backlog() === 0);
    expect(calls[0]).toEqual([0, 1, 2].slice(0, calls[0]!.length));
    expect(calls.slice(1).flat()).toEqual(all(4, 1));
    expect(consumer.failures()).toBe(1);
    await consumer.close();
  });
};

export const sharing = ({ port }: { port: Log }): void => {
  it('one group: each record to one consumer, and the lanes of a closed consumer go to the others', async () => {
    const { log, isOfOneProcess } = port();
    if (isOfOneProcess) return refusesAnother(log);
    for (const n of all(6)) await log.createTopic(`t.${n}`, {});
    const a = await follow(log, { topics: { prefix: 't.' } });
    const b = await follow(log, { topics: { prefix: 't.' } });
    await log.publish(all(6).flatMap((n) => records(`t.${n}`, 10)));
    await eventually('sixty', () => a.records.length + b.records.length === 60);
    await a.consumer.close();
    await log.publish(all(6).flatMap((n) => records(`t.${n}`, 5, 10)));
    await eventually('thirty more', () => a.records.length + b.records.length >= 90);
    const seen = [...a.records, ...b.records].map(({ headers }) => headers.id);
    expect(new Set(seen).size).toBe(90);
    expect(seen).toHaveLength(90);
    await b.consumer.close();
  });
};
