import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { all, follow, numberOf, record, records } from '../conformance/stream-log-harness.js';
import { eventually } from '../conformance/eventually.js';
import { Cluster } from './wire/cluster.js';
import { openKafka } from './index.js';
import { TOPIC_NEWS } from './lane-names.js';
import { Membership, type Agreement } from './consume/membership.js';
import { Offsets } from './consume/offsets.js';
import { testBrokers } from './testing/test-brokers.js';
import { worldForEach } from './testing/kafka-world.js';

// Dozens of topics are created and deleted, on a machine that may be busy.
jest.setTimeout(120_000);

const world = worldForEach();

describe('topics created while a group runs', () => {
  it('are consumed by both processes, and no lane is revoked for it', async () => {
    const [a, b] = [await world().open(), await world().open()];
    for (const n of all(8)) await a.createTopic(`t.${n}`, {});
    const revoked: string[] = [];
    const onRevoked = async (lane: string): Promise<void> => void revoked.push(lane);
    const first = await follow(a, { topics: { prefix: 't.' }, onRevoked });
    const second = await follow(b, { topics: { prefix: 't.' }, onRevoked });
    await a.publish(all(8).map((n) => record(`t.${n}`, 0)));
    await eventually('the first eight', () => first.records.length + second.records.length === 8);
    revoked.length = 0;
    // A process other than the consuming ones.
    const c = await world().open();
    for (const n of all(24, 8)) await c.createTopic(`t.${n}`, {});
    await c.publish(all(32).map((n) => record(`t.${n}`, 1)));
    await eventually('one of each', () => first.records.length + second.records.length === 40);
    expect(revoked).toEqual([]);
    const lanes = [first, second].map(
      (each) => new Set(each.records.filter((r) => numberOf(r) === 1).map((r) => r.lane)),
    );
    expect(Math.min(...lanes.map((each) => each.size))).toBeGreaterThan(0);
    expect(lanes[0]!.size + lanes[1]!.size).toBe(32);
  });
});

describe('topics that another process creates and deletes', () => {
  /** Reads the list of topics at its start, and then only when it must. */
  const SELDOM = { topicsEveryMs: 3_600_000, sweepEveryMs: 3_600_000 };

  it('become known and are forgotten by the news of them, without reading the list of all topics', async () => {
    const [reading, other] = [await world().open(SELDOM), await world().open(SELDOM)];
    const seen = await follow(reading, { topics: { prefix: 't.' } });
    for (const n of all(3)) {
      await other.createTopic(`t.${n}`, {});
      await other.publish([record(`t.${n}`, n)]);
      await eventually('its record', () => seen.records.length === n + 1);
    }
    await other.deleteTopic('t.1');
    await other.createTopic('t.1', {});
    await other.publish([record('t.1', 7)]);
    await eventually('the record of the new topic', () => seen.records.some((each) => numberOf(each) === 7));
  });

  it('delay a stream that was about to begin at their end, and do not fail it', async () => {
    const [reading, other] = [await world().open(SELDOM), await world().open(SELDOM)];
    for (const n of all(2)) await other.createTopic(`t.${n}`, {});
    const gone: string[] = [];
    const commit = Reflect.get(Offsets.prototype, 'setCommitted');
    const spy = jest.spyOn(Offsets.prototype, 'setCommitted').mockImplementation(async function (this: Offsets, ...of) {
      if (gone.length === 0) await other.deleteTopic('t.1');
      gone.push('t.1');
      return commit.apply(this, of);
    });
    try {
      const seen: number[] = [];
      const tail = await reading.tail({ prefix: 't.' }, (found) => seen.push(...found.map(numberOf)));
      await other.publish([record('t.0', 5)]);
      await eventually('the record', () => seen.length === 1);
      await tail.close();
      expect(seen).toEqual([5]);
      expect(gone.length).toBeGreaterThan(1);
    } finally {
      spy.mockRestore();
    }
  });

  it('are looked for while no news can be heard', async () => {
    const [reading, other] = [await world().open(SELDOM), await world().open(SELDOM)];
    const seen = await follow(reading, { topics: { prefix: 't.' } });
    await other.deleteTopic(TOPIC_NEWS);
    await other.createTopic('t.0', {});
    await other.publish([record('t.0', 0)]);
    await eventually('its record', () => seen.records.length === 1);
  });

  it('are told in news that a process which starts an hour later drops', async () => {
    const former = await world().open({ ...SELDOM, clock: { now: () => Date.now() - 2 * 3_600_000 } });
    await follow(former, { group: 'former', topics: { prefix: 'u.' } });
    await eventually('a topic of news', async () => (await former.lanes(TOPIC_NEWS)).length === 1);
    for (const n of all(3)) await former.createTopic(`t.${n}`, {});
    const living = await world().open(SELDOM);
    await living.createTopic('t.3', {});
    const news = async (): Promise<readonly string[]> => (await living.read(TOPIC_NEWS, -1, 100)).map(({ key }) => key);
    await eventually('all news', async () => (await news()).length === 4);
    const seen = await follow(living, { topics: { prefix: 't.' } });
    await eventually('only the newest', async () => {
      expect(await news()).toEqual(['t.3']);
      return true;
    });
    await former.createTopic('t.4', {});
    await former.publish([record('t.4', 4)]);
    await eventually('the record of a new topic', () => seen.records.some((each) => numberOf(each) === 4));
  });

  it('are listed without the topic of the news', async () => {
    const log = await world().open();
    await log.createTopic('t', {});
    const seen = await follow(log, { topics: { prefix: '' } });
    await log.createTopic('u', {});
    await log.publish([record('u', 1)]);
    await eventually('its record', () => seen.records.length === 1);
    expect(await log.topics('')).toEqual(['t', 'u']);
  });
});

describe('partitions', () => {
  it('spread the keys, the same in every process', async () => {
    const [a, b] = [await world().open(), await world().open()];
    await a.createTopic('t', {}, 4);
    const keys = all(64).map((n) => `key-${n}`);
    const lanes = await Promise.all(keys.map((key) => a.laneOf('t', key)));
    expect(new Set(lanes)).toEqual(new Set(['t/0', 't/1', 't/2', 't/3']));
    expect(await Promise.all(keys.map((key) => b.laneOf('t', key)))).toEqual(lanes);
  });
});

describe('a call of which the brokers refuse a part', () => {
  it('stores no record behind the refused one, and the next call is stored', async () => {
    const log = await world().open();
    await log.createTopic('t', {});
    const tooLarge = record('t', 1, 'k', JSON.stringify('x'.repeat(17 << 20)));
    await expect(log.publish([record('t', 0), tooLarge, record('t', 2)])).rejects.toThrow('t');
    await log.publish([record('t', 3)]);
    expect((await log.read('t', -1, 10)).map(numberOf)).toEqual([0, 3]);
  });
});

describe('a lane that is read', () => {
  it('ends when another process deletes its topic', async () => {
    const [reading, deleting] = [await world().open(), await world().open()];
    await deleting.createTopic('t', {});
    await deleting.publish(records('t', 3));
    expect(await reading.lanes('t')).toEqual(['t']);
    expect(await reading.read('t', -1, 2)).toHaveLength(2);
    await deleting.deleteTopic('t');
    expect(await reading.read('t', 1, 2)).toEqual([]);
  });
});

describe('a consumer', () => {
  it('that dies loses its lanes to the other after the session time-out', async () => {
    const dying = await world().open();
    const other = await world().open();
    for (const n of all(16)) await dying.createTopic(`t.${n}`, {});
    const first = await follow(dying, { topics: { prefix: 't.' } }, false);
    const second = await follow(other, { topics: { prefix: 't.' } });
    await other.publish(all(16).map((n) => record(`t.${n}`, 0)));
    await eventually('one of each', () => first.records.length + second.records.length >= 16);
    expect(first.records.length).toBeGreaterThan(0);
    // Like a killed process, it neither leaves the group nor commits.
    dying['cluster'].close();
    await eventually('the other has them all', () => new Set(second.records.map(({ lane }) => lane)).size === 16);
    await first.consumer.close();
  });

  it('is known to its successor, which removes it from the group', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'sluice-kafka-'));
    undo.push(() => rmSync(stateDir, { recursive: true }));
    const sessionTimeoutMs = 60_000;
    const dying = await world().open({ stateDir, sessionTimeoutMs });
    await dying.createTopic('t', {});
    const before = await follow(dying, { topics: { names: ['t'] } }, false);
    await dying.publish(records('t', 3));
    await eventually('three', () => before.records.length === 3);
    const file = readdirSync(stateDir).map((name) => join(stateDir, name))[0]!;
    const left = readFileSync(file);
    dying['cluster'].close();
    await before.consumer.close();
    writeFileSync(file, left);
    const after = await world().open({ stateDir, sessionTimeoutMs });
    const { records: seen } = await follow(after, { topics: { names: ['t'] } });
    // The predecessor's session would last another minute.
    await eventually('the same three', () => seen.length === 3);
  });
});

describe('an expelled member', () => {
  it('cannot commit, learns of it, and rejoins under another name', async () => {
    const log = await world().open();
    await log.createTopic('t', {});
    await log.publish(records('t', 5));
    const cluster = new Cluster({ brokers: testBrokers(), clientId: 'spec', onWarning: () => undefined });
    undo.push(() => cluster.close());
    await cluster.refresh();
    const agreements: Agreement[] = [];
    let expelled = 0;
    const group = `${world().prefix}g`;
    const membership = new Membership({
      cluster,
      group,
      sessionTimeoutMs: 6_000,
      onAgreement: (agreement) => agreements.push(agreement),
      onExpelled: async () => void expelled++,
      onMemberId: () => undefined,
    });
    await eventually('the first agreement', () => agreements.length === 1);
    const offsets = new Offsets(cluster);
    const topic = `${world().prefix}t`;
    const commit = (next: number, { member }: Agreement) =>
      offsets.commit(group, member, [{ topic, partition: 0, next, holder: '' }]);
    expect((await commit(2, agreements[0]!)).size).toBe(0);
    const { id } = agreements[0]!.member;
    await cluster.callCoordinator(group, 'offsets', 'LeaveGroup', { groupId: group, memberId: id });
    expect((await commit(4, agreements[0]!)).size).toBe(1);
    expect(await log.committed('g', 't')).toEqual({ t: 1 });
    await eventually('the second agreement', () => agreements.length === 2);
    expect(expelled).toBe(1);
    expect(agreements[1]!.self).not.toBe(agreements[0]!.self);
    await membership.close();
  });
});

describe('connections that break under load', () => {
  it('lose and repeat nothing, because the broker knows the batch by its sequence', async () => {
    const log = await world().open();
    await log.createTopic('t', {});
    const { records: seen } = await follow(log, { topics: { names: ['t'] } });
    for (let round = 0; round < 10; round++) {
      const published = all(200, 200 * round).map((n) => log.publish([record('t', n)]));
      // After the request is sent, so that only the answer is lost.
      await new Promise((resolve) => setTimeout(resolve, 2 * round));
      for (const purpose of ['produce', 'offsets', 'any']) log['cluster'].drop(purpose);
      expect((await Promise.all(published)).flat()).not.toContain(null);
    }
    await eventually('all of them', () => seen.length >= 2000);
    expect((await log.read('t', -1, 5_000)).map(numberOf)).toEqual(all(2000));
    expect(seen.map(numberOf)).toEqual(all(2000));
  });
});

describe('no broker', () => {
  it('is reported with its address', async () => {
    const opening = openKafka({
      brokers: ['127.0.0.1:1'],
      prefix: '',
      clientId: 'spec',
      replicationFactor: 1,
      onWarning: () => undefined,
    });
    await expect(opening).rejects.toThrow('127.0.0.1:1');
  });
});

const undo: (() => void)[] = [];
afterEach(() => {
  for (const act of undo.splice(0)) act();
});
