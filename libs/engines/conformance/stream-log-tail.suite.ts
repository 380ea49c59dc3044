import { expect, it } from '@jest/globals';
import { type StoredRecord, type Tail } from '#libs/stream-log/stream-log.js';
import { eventually } from './eventually.js';
import { all, follow, type Log, numberOf, record, records } from './stream-log-harness.js';

/** Part `tail` of the StreamLog suite: reading live records without a group. */
export const tail = ({ port }: { port: Log }): void => {
  const opened = async (
    topics: { prefix: string } | { names: string[] },
  ): Promise<{ seen: StoredRecord[]; live: Tail }> => {
    const seen: StoredRecord[] = [];
    return { seen, live: await port().log.tail(topics, (found) => void seen.push(...found)) };
  };

  it('hands what is published from now on to every reader, in order, and nothing older', async () => {
    const { log } = port();
    await log.createTopic('t.1', {});
    await log.createTopic('u.1', {});
    await log.publish(records('t.1', 5));
    const [one, two] = [await opened({ prefix: 't.' }), await opened({ names: ['t.1'] })];
    await log.publish([...records('t.1', 3, 5), record('u.1', 0), record('t.1', 8)]);
    await eventually('both have them', () => one.seen.length >= 4 && two.seen.length >= 4);
    expect(one.seen.map(numberOf)).toEqual([5, 6, 7, 8]);
    expect(two.seen.map(numberOf)).toEqual([5, 6, 7, 8]);
    expect(one.seen[0]).toMatchObject({ ...record('t.1', 5), lane: 't.1' });
    await Promise.all([one.live.close(), two.live.close()]);
  });

  it('includes topics that are created later, from their first record', async () => {
    const { log } = port();
    const { seen, live } = await opened({ prefix: 't.' });
    await log.createTopic('t.9', {});
    await log.publish(records('t.9', 3));
    await eventually('all three', () => seen.length >= 3);
    expect(seen.map(numberOf)).toEqual(all(3));
    await live.close();
  });

  it('takes nothing from groups, and moves none', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const { seen, live } = await opened({ prefix: 't' });
    await log.publish(records('t', 4));
    await eventually('seen live', () => seen.length >= 4);
    expect(await log.lag('g', { prefix: 't' })).toEqual({ t: 4 });
    const group = await follow(log, { topics: { prefix: 't' } });
    await eventually('read by the group', () => group.records.length === 4);
    await Promise.all([group.consumer.close(), live.close()]);
  });

  it('ends, also twice, and hands over nothing afterwards', async () => {
    const { log } = port();
    await log.createTopic('t', {});
    const { seen, live } = await opened({ prefix: 't' });
    await live.close();
    await live.close();
    await log.publish(records('t', 2));
    const other = await follow(log, { topics: { prefix: 't' } });
    await eventually('published', () => other.records.length === 2);
    expect(seen).toEqual([]);
    await other.consumer.close();
  });

  it('holds nothing back from retention', async () => {
    const { log } = port();
    await log.createTopic('t', { dropConsumed: true });
    const { seen, live } = await opened({ prefix: 't' });
    const group = await follow(log, { topics: { prefix: 't' } });
    await log.publish(records('t', 10));
    await eventually('consumed', () => group.records.length === 10 && seen.length >= 10);
    await live.close();
    await group.consumer.close();
    expect(await log.lag('g', { prefix: 't' })).toEqual({ t: 0 });
  });
};
