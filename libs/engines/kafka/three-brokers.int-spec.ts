import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { all, follow, numberOf, record, type Seen } from '../conformance/stream-log-harness.js';
import { startKafkaCluster, type KafkaCluster } from '#test/engines/kafka-cluster.js';
import { KafkaPartitions, until } from '#test/engines/kafka-partitions.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { removeDir } from '#test/harness/temp-dir.js';
import { faultOf } from '../faults.js';
import { kafkaFault, type KafkaStreamLog } from './index.js';
import { KafkaWorld } from './testing/kafka-world.js';

/** Three brokers of the test's own, because it ends them. Java starts many times, on a machine that may be busy. */

const PATIENCE_MS = 600_000;
const TOPICS = 12;
const SESSION_MS = 6_000;
/** The list of topics is read at the start only, so that consumers learn of moved leaders from the brokers' answers. */
const THREE = { replicationFactor: 3, sessionTimeoutMs: SESSION_MS, topicsEveryMs: 3_600_000, sweepEveryMs: 3_600_000 };
/** Topics whose lanes are idle until a broker has stopped and started again. */
const topics = all(TOPICS).map((n) => `t.${n}`);

/** The state of Kafka in an error; undefined for one that would be answered 500. */
const stateOf = faultOf(kafkaFault);
const KEPT = new Set(['meta.properties', 'bootstrap.checkpoint']);

let cluster: KafkaCluster;
let world: KafkaWorld;
let partitions: KafkaPartitions;
beforeAll(async () => {
  cluster = await startKafkaCluster();
  world = new KafkaWorld(() => cluster.addresses);
  partitions = await KafkaPartitions.open(cluster.addresses);
}, PATIENCE_MS);
afterAll(async () => {
  try {
    await partitions?.close();
    // After so many elections the brokers may delete topics more slowly than a deletion waits. Their files are removed
    // anyway.
    await world?.close({ keepTopics: true });
  } finally {
    await cluster?.stop();
  }
}, PATIENCE_MS);
/** A failed test may have left stopped brokers. */
afterEach(async () => {
  for (const broker of cluster.brokers) await broker.ensureRunning();
}, PATIENCE_MS);

describe('three brokers, three copies', () => {
  let publisher: KafkaStreamLog;
  let seen: Seen;
  let rounds = 0;

  beforeAll(async () => {
    publisher = await world.open(THREE);
    const consumer = await world.open(THREE);
    for (const topic of topics) await publisher.createTopic(topic, {});
    seen = await follow(consumer, { topics: { prefix: 't.' } });
  }, PATIENCE_MS);

  /** Publishes one record to each idle lane, and waits for the consumer to have them all. */
  const everyLaneHears = async (): Promise<void> => {
    const n = rounds++;
    await publisher.publish(topics.map((topic) => record(topic, n)));
    const deaf = (): string[] =>
      topics.filter((topic) => !seen.records.some((each) => each.topic === topic && numberOf(each) === n));
    await until(`round ${n}`, () => deaf().length === 0).catch((error: unknown) => {
      throw new Error(`deaf: ${deaf().join(', ')}`, { cause: error });
    });
  };
  const inSync = (): Promise<void> => partitions.allInSync(topics.map((topic) => world.prefix + topic));

  it(
    'are heard on every idle lane while the brokers are restarted one after the other',
    async () => {
      await everyLaneHears();
      for (const broker of cluster.brokers) {
        await broker.shutDown();
        await everyLaneHears();
        await broker.start();
        await everyLaneHears();
        await inSync();
      }
      expect(rounds).toBe(7);
    },
    PATIENCE_MS,
  );

  it(
    'are heard after a leader was killed, with what was on its way, and after it leads again',
    async () => {
      const leader = cluster.node(await partitions.leaderOf(`${world.prefix}t.0`));
      const acknowledged: number[] = [];
      let stop = false;
      const load = (async (): Promise<void> => {
        for (let n = 1_000; !stop; n++) {
          await publisher.publish([record('t.0', n)]);
          acknowledged.push(n);
        }
      })();
      await until('load', () => acknowledged.length > 50);
      await leader.kill9();
      const before = acknowledged.length;
      await until('load goes on', () => acknowledged.length > before + 50);
      await everyLaneHears();
      await leader.start();
      await inSync();
      await until('it leads again', async () => {
        const found = await Promise.all(topics.map((topic) => partitions.of(world.prefix + topic)));
        return found.every(({ leader: led, replicas }) => led === replicas[0]);
      });
      await everyLaneHears();
      stop = true;
      await load;
      const numbers = (): number[] => seen.records.filter((each) => each.topic === 't.0').map(numberOf);
      await until('all acknowledged', () => numbers().includes(acknowledged.at(-1) ?? -1));
      const got = numbers().filter((n) => n >= 1_000);
      expect(acknowledged.filter((n) => !got.includes(n))).toEqual([]);
      // In order, and no record twice: the broker knows a batch that is sent again.
      expect(got).toEqual(all(got.length, 1_000));
    },
    PATIENCE_MS,
  );

  it(
    'are heard when a lane moves to another broker while all are up',
    async () => {
      const name = `${world.prefix}t.1`;
      const { replicas } = await partitions.of(name);
      await partitions.reassign(name, [...replicas.slice(1), ...replicas.slice(0, 1)]);
      await until('another leader', async () => (await partitions.leaderOf(name)) === replicas[1]);
      await everyLaneHears();
    },
    PATIENCE_MS,
  );

  it(
    'are heard while a broker hangs, and after it goes on',
    async () => {
      const broker = cluster.node(await partitions.leaderOf(`${world.prefix}t.2`));
      broker.pause();
      await everyLaneHears();
      broker.resume();
      await inSync();
      await everyLaneHears();
    },
    PATIENCE_MS,
  );
});

// docs/reference/errors.md#engines
describe('a broker that comes back with an empty disk', () => {
  it(
    'lets streams be opened all the while, and what cannot be done then is told as the state of Kafka',
    async () => {
      const log = await world.open(THREE);
      const names = all(TOPICS).map((n) => `emptied.${n}`);
      for (const name of names) await log.createTopic(name, {});
      const [broker] = cluster.brokers;
      const [data = ''] = cluster.data;
      const failures: string[] = [];
      let [opened, refused, over] = [0, 0, false];
      const call = async (what: string, asked: Promise<unknown>): Promise<boolean> =>
        asked.then(
          () => true,
          (error: unknown) => {
            if (stateOf(error) === undefined) failures.push(`${what}: ${messageOf(error)}`);
            return false;
          },
        );
      const readers = all(4).map(async (n) => {
        while (!over) {
          const topics = n % 2 === 0 ? { prefix: 'emptied.' } : { names: [`emptied.${n}`] };
          const tail = log.tail(topics, () => undefined).then((each) => each.close());
          if (await call('a stream', tail)) opened++;
          else refused++;
          await call('an end', log.endOf(`emptied.${n}`));
          await call('a page', log.read(`emptied.${n}`, -1, 10));
          await call('the lag', log.lag('runner', { prefix: 'emptied.' }));
        }
      });
      await until('streams', () => opened > 4);
      await broker?.shutDown();
      // The formatting of the disk stays, like after an operator has replaced the disk.
      for (const file of readdirSync(data)) if (!KEPT.has(file)) removeDir(join(data, file));
      await broker?.start();
      await partitions.allInSync(names.map((name) => world.prefix + name));
      const before = opened;
      await until('more streams', () => opened > before + 4);
      over = true;
      await Promise.all(readers);
      expect([failures, refused]).toEqual([[], 0]);
      const seen: number[] = [];
      const tail = await log.tail({ names: ['emptied.0'] }, (records) => seen.push(...records.map(numberOf)));
      await log.publish([record('emptied.0', 7)]);
      await until('the record', () => seen.length > 0);
      expect(seen).toEqual([7]);
      await tail.close();
    },
    PATIENCE_MS,
  );
});

describe('a group whose coordinator is on another broker than the data', () => {
  it(
    'goes on from what it committed when the coordinator is killed',
    async () => {
      const log = await world.open(THREE);
      const group = `g-${randomUUID().slice(0, 8)}`;
      await log.createTopic('far', {});
      const seen = await follow(log, { group, topics: { names: ['far'] } });
      const name = `${world.prefix}far`;
      const offsetsPartition = await partitions.coordinatorOf(world.prefix + group);
      const others = [1, 2, 3].filter((id) => id !== offsetsPartition);
      await partitions.reassign(name, [...others, offsetsPartition]);
      await until('another leader', async () => (await partitions.leaderOf(name)) === others[0]);
      await log.publish(all(5).map((n) => record('far', n)));
      await until('five', () => seen.records.length === 5);
      await until('committed', async () => (await log.committed(group, 'far'))['far'] === 4);
      await cluster.node(offsetsPartition).kill9();
      await log.publish(all(5, 5).map((n) => record('far', n)));
      await until('ten', () => seen.records.length === 10);
      await until('committed by the next coordinator', async () => (await log.committed(group, 'far'))['far'] === 9);
      await seen.consumer.close();
      const again = await follow(await world.open(THREE), { group, topics: { names: ['far'] } });
      await log.publish([record('far', 10)]);
      await until('the next one', () => again.records.length > 0);
      expect(again.records.map(numberOf)).toEqual([10]);
    },
    PATIENCE_MS,
  );
});

describe('a partition without a leader', () => {
  it(
    'holds up no other lane, and is consumed once it has one',
    async () => {
      const log = await world.open({ ...THREE, durability: 'best_effort' });
      const one = await world.open({ replicationFactor: 1, durability: 'best_effort' });
      await one.createTopic('offline.lone', {});
      for (const n of all(6)) await log.createTopic(`offline.${n}`, {});
      const [home = 1] = (await partitions.of(`${world.prefix}offline.lone`)).replicas;
      await log.publish([record('offline.lone', 0)]);
      await cluster.node(home).kill9();
      await until('no leader', async () => (await partitions.leaderOf(`${world.prefix}offline.lone`)) < 0);
      const revoked: string[] = [];
      const onRevoked = async (lane: string): Promise<void> => void revoked.push(lane);
      const seen = await follow(log, { group: 'offline', topics: { prefix: 'offline.' }, onRevoked });
      await log.publish(all(6).map((n) => record(`offline.${n}`, n)));
      await until('the others', () => new Set(seen.records.map(({ topic }) => topic)).size === 6);
      expect(Object.keys(await log.lag('offline', { prefix: 'offline.' }))).toHaveLength(6);
      // One call publishes all, and each record has its own result.
      const settled = new Map<number, number | null | Error>();
      const call = [record('offline.lone', 1), ...all(6).map((n) => record(`offline.${n}`, 10 + n))];
      log.publishEach(call, (index, outcome) => settled.set(index, outcome));
      await until('the records of the others', () => settled.size >= 6);
      expect([...settled.keys()].sort()).toEqual([1, 2, 3, 4, 5, 6]);
      // A topic can be created, and is consumed by the group.
      await log.createTopic('offline.new', {});
      await log.publish([record('offline.new', 0)]);
      await until('the new one', () => seen.records.some(({ topic }) => topic === 'offline.new'));
      // Offsets can be committed and read, also of the partition itself.
      await until('committed', async () => (await log.committed('offline', 'offline.0'))['offline.0'] === 1);
      expect(await log.committed('offline', 'offline.lone')).toEqual({ 'offline.lone': -1 });
      // The members stay for longer than a session, and no lane is revoked from them.
      const past = performance.now() + 2 * SESSION_MS;
      for (let n = 20; performance.now() < past; n++) {
        await log.publish([record('offline.0', n)]);
        await until('the next one', () => seen.records.some((each) => numberOf(each) === n));
      }
      expect(revoked).toEqual([]);
      await cluster.node(home).start();
      await until('the one that was away', () => seen.records.some(({ topic }) => topic === 'offline.lone'));
      await one.deleteTopic('offline.lone');
    },
    PATIENCE_MS,
  );
});

describe('fewer copies in sync than a majority', () => {
  it(
    'refuse records instead of acknowledging them, until one is back',
    async () => {
      const log = await world.open(THREE);
      await log.createTopic('shrunk', {});
      const name = `${world.prefix}shrunk`;
      const { resources } = await partitions.admin.describeConfigs({
        resources: [{ type: 2, name, configNames: ['min.insync.replicas', 'unclean.leader.election.enable'] }],
        includeSynonyms: false,
      });
      const entries = (resources[0]?.configEntries ?? []).map(({ configName, configValue }) => [
        configName,
        configValue,
      ]);
      expect(Object.fromEntries(entries)).toEqual({
        'min.insync.replicas': '2',
        'unclean.leader.election.enable': 'false',
      });
      const { leader } = await partitions.of(name);
      const [first, second] = cluster.brokers.filter(({ id }) => id !== leader);
      await first?.kill9();
      await until('two in sync', async () => (await partitions.of(name)).isr.length === 2);
      expect(await log.publish([record('shrunk', 0)])).toEqual([0]);
      second?.pause();
      let written = false;
      const publishing = log.publish([record('shrunk', 1)]).finally(() => (written = true));
      publishing.catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      expect(written).toBe(false);
      second?.resume();
      await first?.start();
      await until('written or refused', () => written);
      // The record may have been refused after half a minute, and was never acknowledged.
      await log.publish([record('shrunk', 2)]);
      const stored = (await log.read('shrunk', -1, 10)).map(numberOf);
      expect(stored.filter((n) => n !== 1)).toEqual([0, 2]);
    },
    PATIENCE_MS,
  );
});
