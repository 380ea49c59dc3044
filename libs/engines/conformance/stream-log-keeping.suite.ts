import { expect, it } from '@jest/globals';
import { eventually } from './eventually.js';
import { laneHistory } from '#libs/stream-log/lane-history.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { all, follow, numberOf, read, record, records, type Get, type Log } from './stream-log-harness.js';

/** Parts of the StreamLog suite (stream-log.suite.ts): counting, retention and deletion. */

export const backlog = ({ port, get }: { port: Log; get: Get }): void => {
  it('counts unacknowledged records, handed over or not', async () => {
    const { log } = port();
    await log.createTopic('t.1', {});
    await log.createTopic('t.2', {});
    await log.publish(records('t.1', 8));
    const { records: seen, batches, consumer } = await follow(log, { topics: { prefix: 't.' }, maxUnacked: 5 }, false);
    await eventually('five', () => seen.length === 5);
    await log.publish(records('t.2', 2));
    await eventually('ten in all', () => consumer.backlog() === 10);
    expect(consumer.backlogOf(seen[0]!.lane)).toBe(8);
    expect(consumer.backlogOf('unknown')).toBe(0);
    batches[0]!.ack(seen[0]!.offset);
    await eventually('nine', () => consumer.backlog() === 9);
    expect(consumer.backlogOf(seen[0]!.lane)).toBe(7);
    await consumer.close();
  });

  it('reports about how many bytes are unacknowledged, also after a restart', async () => {
    await port().log.createTopic('t.1', {});
    // Each character has three bytes.
    const large = (n: number): LogRecord => record('t.1', n, 'k', JSON.stringify('漢'.repeat(10_000)));
    for (const n of all(6)) await port().log.publish([large(n)]);
    const about = (n: number) => (bytes: number) => bytes >= n * 30_000 && bytes <= n * 30_300;
    const first = await follow(port().log, { topics: { prefix: 't.' }, maxUnacked: 2 }, false);
    await eventually('two', () => first.records.length === 2);
    const { lane } = first.records[0]!;
    await eventually('six', () => about(6)(first.consumer.unreadBytesOf(lane)));
    expect(first.consumer.unreadBytesOf('unknown')).toBe(0);
    first.batches[0]!.ack(first.records[0]!.offset);
    await eventually('five', () => about(5)(first.consumer.unreadBytesOf(lane)));
    await first.consumer.close();

    const { log } = await get().reopen();
    const again = await follow(log, { topics: { prefix: 't.' }, maxUnacked: 1 }, false);
    await eventually('one', () => again.records.length === 1);
    await eventually('five', () => about(5)(again.consumer.unreadBytesOf(lane)));
    await again.consumer.close();
    const rest = await follow(log, { topics: { prefix: 't.' } });
    await eventually('none', () => rest.consumer.unreadBytesOf(lane) === 0 && rest.records.length === 5);
    await log.publish([large(6)]);
    await eventually('none again', () => rest.consumer.unreadBytesOf(lane) === 0 && rest.records.length === 6);
    await rest.consumer.close();
  });

  it('lag: by lane, also without a live consumer, and after a restart', async () => {
    await port().log.createTopic('t.1', {});
    await port().log.createTopic('t.2', {});
    await port().log.publish([...records('t.1', 3), ...records('t.2', 4)]);
    expect(await port().log.lag('g', { prefix: 't.' })).toEqual({ 't.1': 3, 't.2': 4 });
    const { records: seen, consumer } = await follow(port().log, { topics: { names: ['t.1'] } });
    await eventually('three', () => seen.length === 3);
    await consumer.close();
    expect(await port().log.lag('g', { prefix: 't.' })).toEqual({ 't.1': 0, 't.2': 4 });
    const { log } = await get().reopen();
    await log.publish(records('t.1', 1, 3));
    expect(await log.lag('g', { prefix: 't.' })).toEqual({ 't.1': 1, 't.2': 4 });
    expect(await log.lag('g', { names: ['t.2'] })).toEqual({ 't.2': 4 });
  });
};

export const retention = ({ port }: { port: Log }): void => {
  it('by age', async () => {
    const { log, sweepAfter } = port();
    await log.createTopic('t', { ageMs: 60_000 });
    await log.publish(records('t', 3));
    await sweepAfter(50_000);
    await log.publish(records('t', 2, 3));
    expect(await read(log, 't')).toEqual(all(5));
    await sweepAfter(20_000);
    await eventually('the old ones gone', async () => (await read(log, 't')).length === 2);
    expect(await read(log, 't')).toEqual([3, 4]);
  });

  it('by size, the oldest first', async () => {
    const { log, sweepAfter } = port();
    await log.createTopic('t', { bytes: 50_000 });
    for (const n of all(100)) await log.publish([record('t', n, 'k', JSON.stringify('x'.repeat(1000)))]);
    await sweepAfter(1000);
    await eventually('about 50 kB left', async () => (await read(log, 't')).length <= 50);
    const left = await read(log, 't');
    expect(left.length).toBeGreaterThan(30);
    expect(left.at(-1)).toBe(99);
  });

  it('keeps what a group has not committed', async () => {
    const { log, sweepAfter } = port();
    await log.createTopic('t', { ageMs: 1000 });
    // Published one by one, because an engine may store and drop records together that were published together.
    for (const each of records('t', 4)) await log.publish([each]);
    const { records: seen, batches, consumer } = await follow(log, { topics: { names: ['t'] } }, false);
    await eventually('four', () => seen.length === 4);
    batches[0]!.ack(seen[0]!.offset);
    await consumer.close();
    await sweepAfter(60_000);
    await eventually('the first gone', async () => (await read(log, 't')).length === 3);
    expect(await read(log, 't')).toEqual([1, 2, 3]);
  });

  it('drops records that every group has consumed, when the topic says so', async () => {
    const { log } = port();
    await log.createTopic('t', { dropConsumed: true });
    const a = await follow(log, { group: 'a', topics: { names: ['t'] } });
    const b = await follow(log, { group: 'b', topics: { names: ['t'] }, maxUnacked: 5 }, false);
    for (const each of records('t', 20)) await log.publish([each]);
    await eventually('a done', () => a.records.length === 20);
    await eventually('b has five', () => b.records.length === 5);
    expect(await read(log, 't')).toEqual(all(20));
    for (const { offset } of b.records.slice(0, 5)) b.batches.forEach((batch) => batch.ack(offset));
    await eventually('five dropped', async () => (await read(log, 't'))[0] === 5);
    await Promise.all([a.consumer.close(), b.consumer.close()]);
    const [offset] = await log.publish([record('t', 20)]);
    expect(offset).toBeGreaterThan(b.records[4]!.offset);
  });
};

export const remove = ({ port, get }: { port: Log; get: Get }): void => {
  it('removes its records and commits; consumers see the lane revoked', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const { records: seen, batches, consumer } = await follow(log, { topics: { prefix: 't' } }, false);
    await log.publish(records('t', 3));
    await eventually('three', () => seen.length === 3);
    await log.deleteTopic('t');
    await log.deleteTopic('t');
    expect(batches[0]!.revoked()).toBe(true);
    batches[0]!.ack(seen[0]!.offset);
    expect(consumer.backlog()).toBe(0);
    expect(await log.topics('')).toEqual([]);
    expect(await log.publish(records('t', 1))).toEqual([null]);
    expect(await log.read('t', -1, 10)).toEqual([]);

    await log.createTopic('t', {});
    await log.publish(records('t', 1, 7));
    await eventually('the new topic', () => seen.length === 4);
    expect(numberOf(seen[3]!)).toBe(7);
    await consumer.close();
  });

  it('outlives a restart', async () => {
    await port().log.createTopic('t', {});
    await port().log.publish(records('t', 500));
    await port().log.deleteTopic('t');
    const { log } = await get().reopen();
    await log.createTopic('t', {});
    expect(await log.read('t', -1, 10)).toEqual([]);
    expect(await log.lag('g', { prefix: 't' })).toEqual({ t: 0 });
  });

  it('while records are in flight drops those that come after', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    await log.createTopic('u', {});
    const [, , offsets] = await Promise.all([
      log.publish(records('t', 1)),
      log.deleteTopic('t'),
      log.publish([record('t', 1), record('u', 2)]),
    ]);
    expect(offsets[1]).not.toBeNull();
    expect(await log.topics('')).toEqual(['u']);
    expect(await read(log, 'u')).toEqual([2]);
  });
};

export const many = ({ port }: { port: Log }): void => {
  it('are all consumed, through one group', async () => {
    const { log, manyTopics = 2000 } = port();
    const names = all(manyTopics).map((n) => `t.${n}`);
    const later = Math.ceil(manyTopics / 20);
    await Promise.all(names.slice(later).map((name) => log.createTopic(name, { dropConsumed: true })));
    const { records: seen, consumer } = await follow(log, { topics: { prefix: 't.' }, maxBatch: 10, maxUnacked: 10 });
    await Promise.all(names.slice(0, later).map((name) => log.createTopic(name, { dropConsumed: true })));
    await log.publish(names.flatMap((name) => records(name, 2)));
    await eventually('two of each', () => seen.length === 2 * manyTopics);
    expect(new Set(seen.map(({ headers }) => headers.id)).size).toBe(2 * manyTopics);
    expect(consumer.backlog()).toBe(0);
    await consumer.close();
    expect(Object.values(await log.lag('g', { prefix: 't.' })).every((n) => n === 0)).toBe(true);
  });
};

export const readPart = ({ port }: { port: Log }): void => {
  it('pages through a topic and moves no group', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    await log.createTopic('u', {});
    for (let n = 0; n < 1200; n += 100) await log.publish([...records('t', 100, n), ...records('u', 100, n)]);
    const whole = await log.read('t', -1, 5000);
    expect(whole.map(numberOf)).toEqual(all(1200));
    const page = await log.read('t', whole[9]!.offset, 5);
    expect(page.map(numberOf)).toEqual(all(5, 10));
    expect(await log.read('t', whole.at(-1)!.offset, 5)).toEqual([]);
    expect(await log.lag('g', { names: ['t'] })).toEqual({ t: 1200 });
  });

  it('pages through records of any size; an empty page is the end', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    for (const n of all(12)) await log.publish([record('t', n, 'k', JSON.stringify('x'.repeat(1 << 20)))]);
    const seen: number[] = [];
    for (let after = -1; ;) {
      const page = await log.read('t', after, 1_000);
      const last = page.at(-1);
      if (!last) break;
      seen.push(...page.map(numberOf));
      after = last.offset;
    }
    expect(seen).toEqual(all(12));
  });
};

export const toItsEnd = ({ port }: { port: Log }): void => {
  it('reads what the lane held at the call, while others publish without a pause', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    await log.createTopic('u', {});
    await log.publish([...records('t', 250), ...records('u', 3)]);
    const seen: number[] = [];
    let next = 250;
    for await (const page of laneHistory(log, 't', { pageSize: () => 100 })) {
      seen.push(...page.map(numberOf));
      if (seen.length > 5_000) throw new Error('the reader follows the writer');
      await log.publish(records('t', 150, next));
      next += 150;
    }
    expect(seen).toEqual(all(250));
    expect((await log.read('t', -1, 5_000)).length).toBe(next);
  });

  it('is above every record that the lane holds, and not above a later one', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const before = await log.endOf('t');
    const [first] = await log.publish(records('t', 1));
    expect(first).toBeGreaterThanOrEqual(before);
    const between = await log.endOf('t');
    expect(between).toBeGreaterThan(first!);
    const [second] = await log.publish(records('t', 1, 1));
    expect(second).toBeGreaterThanOrEqual(between);
  });

  it('is nothing for an empty lane, one without newer records, and one that does not exist', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const read = async (lane: string, after = -1): Promise<number[]> => {
      const seen: number[] = [];
      for await (const page of laneHistory(log, lane, { after })) seen.push(...page.map(numberOf));
      return seen;
    };
    expect(await read('t')).toEqual([]);
    expect(await log.endOf('none')).toBe(0);
    expect(await read('none')).toEqual([]);
    const offsets = await log.publish(records('t', 3));
    expect(await read('t', offsets[0]!)).toEqual([1, 2]);
    expect(await read('t', offsets[2]!)).toEqual([]);
    await log.deleteTopic('t');
    expect(await log.endOf('t')).toBe(0);
  });
};
