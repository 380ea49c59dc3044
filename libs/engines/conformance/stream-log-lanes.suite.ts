import { expect, it } from '@jest/globals';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { eventually } from './eventually.js';
import { all, follow, numberOf, record, records, refusesAnother, type Get, type Log } from './stream-log-harness.js';

/** Parts of the StreamLog suite (stream-log.suite.ts): the lane of a record, and the owner of a lane. */

const KEYS = all(20).map((n) => `key-${n}`);

/** Ten records of each key, with the keys mixed. */
const spread = (topic: string) => all(10).flatMap((n) => KEYS.map((key) => record(topic, n, key)));

const readAll = async (log: StreamLog, topic: string) => {
  const read = (await log.lanes(topic)).map((lane) => log.read(lane, -1, 1_000));
  return (await Promise.all(read)).flat();
};

export const partitions = ({ port }: { port: Log }): void => {
  it('hold every record together, those of a key in order in the lane that laneOf names', async () => {
    const { log } = port();
    await log.createTopic('t', {}, 4);
    const lanes = await log.lanes('t');
    expect(lanes.length).toBeGreaterThan(0);
    expect(lanes.length).toBeLessThanOrEqual(4);
    const offsets = await log.publish(spread('t'));
    expect(offsets).not.toContain(null);
    const stored = await readAll(log, 't');
    expect(stored).toHaveLength(200);
    for (const key of KEYS) {
      const ofKey = stored.filter((each) => each.key === key);
      expect(ofKey.map(numberOf)).toEqual(all(10));
      expect(new Set(ofKey.map(({ lane }) => lane))).toEqual(new Set([await log.laneOf('t', key)]));
    }
    expect(new Set(stored.map(({ lane }) => lane))).toEqual(new Set(lanes));
    const sum = Object.values(await log.lag('g', { names: ['t'] })).reduce((total, lag) => total + lag, 0);
    expect(sum).toBe(200);
  });

  it('are all consumed, each key in order', async () => {
    const { log } = port();
    await log.createTopic('t', {}, 4);
    const { records: seen, consumer } = await follow(log, { topics: { names: ['t'] }, maxBatch: 7 });
    await log.publish(spread('t'));
    await eventually('all of them', () => seen.length === 200);
    for (const key of KEYS) expect(seen.filter((each) => each.key === key).map(numberOf)).toEqual(all(10));
    expect(new Set(seen.map(({ lane }) => lane))).toEqual(new Set(await log.lanes('t')));
    await consumer.close();
    expect(Object.keys(await log.committed('g', 't')).sort()).toEqual([...(await log.lanes('t'))].sort());
  });

  it('are not changed by a repeat, and one of them is the topic itself', async () => {
    const { log } = port();
    await log.createTopic('one', {});
    expect(await log.lanes('one')).toEqual(['one']);
    expect(await log.laneOf('one', 'any')).toBe('one');
    await log.createTopic('one', {}, 4);
    expect(await log.lanes('one')).toEqual(['one']);
  });

  it('do not exist for an unknown topic', async () => {
    const { log } = port();
    expect(await log.lanes('none')).toEqual([]);
    expect(await log.read('none', -1, 1)).toEqual([]);
    expect(await log.committed('g', 'none')).toEqual({});
    await expect(log.laneOf('none', 'k')).rejects.toThrow('none');
  });
};

export const moving = ({ port, get }: { port: Log; get: Get }): void => {
  it('to another engine: the committed offset is read and set', async () => {
    await port().log.createTopic('t', {});
    const offsets = await port().log.publish(records('t', 5));
    expect(await port().log.committed('g', 't')).toEqual({ t: -1 });
    await port().log.setCommitted('g', { t: offsets[2]! });
    const { log } = await get().reopen();
    expect(await log.committed('g', 't')).toEqual({ t: offsets[2] });
    expect(await log.lag('g', { names: ['t'] })).toEqual({ t: 2 });
    const { records: seen, consumer } = await follow(log, { topics: { names: ['t'] } });
    await eventually('the rest', () => seen.length === 2);
    expect(seen.map(numberOf)).toEqual([3, 4]);
    await expect(log.setCommitted('g', { t: offsets[0]! })).rejects.toThrow('g');
    await consumer.close();
    expect(await log.committed('g', 't')).toEqual({ t: offsets[4] });
    expect(await log.committed('other', 't')).toEqual({ t: -1 });
  });

  it('to a consumer that joins: once the former owner has released and committed it', async () => {
    const { log, isOfOneProcess } = port();
    if (isOfOneProcess) return refusesAnother(log);
    const topics = all(16).map((n) => `t.${n}`);
    for (const topic of topics) await log.createTopic(topic, {});
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const revoked: string[] = [];
    const owner = await follow(
      log,
      {
        topics: { prefix: 't.' },
        onRevoked: async (lane) => {
          revoked.push(lane);
          await gate;
          const batches = owner.batches.filter((batch) => batch.lane === lane);
          expect(batches.map((batch) => batch.revoked())).toEqual(batches.map(() => true));
          for (const batch of batches)
            for (const each of batch.records) if (numberOf(each) === 0) batch.ack(each.offset);
        },
      },
      false,
    );
    await log.publish(topics.map((topic) => record(topic, 0)));
    await eventually('the first round', () => owner.records.length === 16);
    const joined = await follow(log, { topics: { prefix: 't.' } });
    await eventually('lanes revoked', () => revoked.length > 0);
    await log.publish(topics.map((topic) => record(topic, 1)));
    const goOn = (): string[] => owner.records.filter((each) => numberOf(each) === 1).map(({ lane }) => lane);
    await eventually('the others go on', () => new Set([...goOn(), ...revoked]).size === 16);
    expect(joined.records).toEqual([]);
    open();
    await eventually('the new owner', () => joined.records.length === revoked.length);
    // Acknowledged while the lane was released, so not delivered again.
    expect(joined.records.map(numberOf)).toEqual(revoked.map(() => 1));
    expect(joined.records.map(({ lane }) => lane).sort()).toEqual([...revoked].sort());
    await Promise.all([owner.consumer.close(), joined.consumer.close()]);
  });

  it('is called for a deleted topic, not for close', async () => {
    const { log } = port();
    await log.createTopic('gone', {});
    await log.createTopic('stays', {});
    await log.createTopic('unused', {});
    const revoked: string[] = [];
    const { records: seen, consumer } = await follow(log, {
      topics: { names: ['gone', 'stays', 'unused'] },
      onRevoked: async (lane) => void revoked.push(lane),
    });
    await log.publish([record('gone', 0), record('stays', 0)]);
    await eventually('both', () => seen.length === 2);
    await log.deleteTopic('gone');
    await log.deleteTopic('unused');
    await eventually('the lane revoked', () => revoked.length > 0);
    await consumer.close();
    expect(revoked).toEqual(['gone']);
  });
};
