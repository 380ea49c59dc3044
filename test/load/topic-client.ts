import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { GroupConsumer } from '#libs/engines/kafka/consume/group-consumer.js';
import { openKafka, type KafkaStreamLog } from '#libs/engines/kafka/index.js';
import { ALL_FORMS } from '#libs/kernel/forms.js';
import { EMITS, perEmitterTopics, sharedTopics, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { cpuUsSince, newHistogram, quantilesMs } from './latencies.js';
import { monotonicUs } from './monotonic.js';
import { servePart } from './part-process.js';
import {
  type CreateResult,
  type HeldLanes,
  type Layout,
  type MetadataCost,
  type PublishResult,
  type TopicClientApi,
  type TrafficTotals,
} from './topic-parts.js';

/** A process of the simulation of topic layouts. It uses the product's own Kafka engine, as a role does. */

const GROUP = 'router';
const PREFIX = 'bench.';
const RETENTION = { emitsAgeMs: 7 * 86_400_000, emitsBytes: 1 << 30 };
const VALUE = JSON.stringify({ pad: 'x'.repeat(1_014) });
/** Number of requests in flight that one process of the product would have. */
const OUTSTANDING = 256;
const CREATE_AT_ONCE = 8;
/**
 * Number of emitters whose topics are created as the product does, one request a topic. The rest use large requests.
 */
const ONE_BY_ONE = 100;
const BULK = 100;
const TAKEN_UP_EVERY_MS = 500;

const [brokers = '', layoutName = '', partitions = ''] = process.argv.slice(2);
const layout = layoutName as Layout;
const policyOf = (): TopicPolicy =>
  layout === 'per_emitter' ? perEmitterTopics(RETENTION) : sharedTopics(RETENTION, Number(partitions));
const policy = policyOf();
const log: KafkaStreamLog = await openKafka({
  brokers: [brokers],
  prefix: PREFIX,
  clientId: `bench-${process.pid}`,
  replicationFactor: 1,
  forms: ALL_FORMS,
  onWarning: (text, fields) => process.stderr.write(`${text} ${JSON.stringify(fields)}\n`),
});

const emitter = (n: number): string => `dc_${String(n).padStart(7, '0')}`;
const arrivals = new Map<string, number>();
let received = 0;
let consumer: GroupConsumer | undefined;

const emitOf = (id: string): LogRecord => ({
  topic: policy.emits(id),
  key: id,
  headers: { kind: 'emit', id: '1', emitter: id, workspace: 'w', channel: '', emit: 'e', hops: '0' },
  value: VALUE,
});

const inParallel = async (width: number, more: () => (() => Promise<unknown>) | undefined): Promise<void> => {
  const worker = async (): Promise<void> => {
    for (let work = more(); work; work = more()) await work();
  };
  await Promise.all(Array.from({ length: width }, worker));
};

const create = async ({ from, to, limitMs }: { from: number; to: number; limitMs: number }): Promise<CreateResult> => {
  const began = performance.now();
  for (const { topic, retention, partitions: count } of policy.fixed()) await log.createTopic(topic, retention, count);
  const times = newHistogram();
  const alone = performance.now();
  const end = Math.min(to, from + ONE_BY_ONE);
  let next = from;
  await inParallel(CREATE_AT_ONCE, () => {
    if (next >= end || performance.now() - began > limitMs) return undefined;
    const id = emitter(next++);
    return async () => {
      for (const { topic, retention, partitions: count } of policy.ownedBy(id)) {
        const before = monotonicUs();
        await log.createTopic(topic, retention, count);
        times.recordValue(Math.max(1, Math.round(monotonicUs() - before)));
      }
    };
  });
  const oneByOneSeconds = (performance.now() - alone) / 1_000;
  const bulk = performance.now();
  const emitters = (layout === 'shared' ? to : await createInBulk(next, to, began + limitMs)) - from;
  const [bulkSeconds, topicMs] = [(performance.now() - bulk) / 1_000, quantilesMs(times)];
  return { emitters, oneByOne: next - from, oneByOneSeconds, bulkSeconds, topicMs };
};

/**
 * Creates the same topics with the same number of settings, many in a request. Returns the last emitter that has
 * topics.
 */
const createInBulk = async (from: number, to: number, until: number): Promise<number> => {
  const admin = new Kafka({
    clientId: 'bench',
    brokers: [brokers],
    requestTimeout: 120_000,
    logLevel: logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    let next = from;
    for (; next < to && performance.now() < until; next = Math.min(to, next + BULK)) {
      const ids = Array.from({ length: Math.min(BULK, to - next) }, (_, n) => emitter(next + n));
      const topics = ids
        .flatMap((id) => policy.ownedBy(id))
        .map(({ topic, partitions: count, retention }) => ({
          topic: `${PREFIX}${topic}`,
          numPartitions: count,
          replicationFactor: 1,
          configEntries: [
            { name: 'cleanup.policy', value: 'delete' },
            { name: 'retention.ms', value: String(retention.ageMs ?? -1) },
            { name: 'retention.bytes', value: String(retention.bytes ?? -1) },
            { name: 'max.message.bytes', value: String(16 << 20) },
            { name: 'segment.ms', value: '3600000' },
            { name: 'delete.retention.ms', value: retention.dropConsumed ? '0' : '86400000' },
          ],
        }));
      await admin.createTopics({ topics, waitForLeaders: false, timeout: 110_000 });
    }
    // The controller is ahead of the broker, which takes up topics in order. A broker that knows the last one knows
    // all.
    const last = policy.ownedBy(emitter(next - 1)).at(-1)?.topic ?? '';
    while (!(await admin.listTopics()).includes(`${PREFIX}${last}`)) await pause(TAKEN_UP_EVERY_MS);
    return next;
  } finally {
    await admin.disconnect();
  }
};

/** Publishes round robin over all emitters, one record a call. */
const publish = async (options: { emitters: number; durationMs: number; limit: number }): Promise<PublishResult> => {
  const times = newHistogram();
  const cpu = process.cpuUsage();
  const began = performance.now();
  let next = 0;
  await inParallel(OUTSTANDING, () => {
    if (next >= options.limit || performance.now() - began > options.durationMs) return undefined;
    const id = emitter(next++ % options.emitters);
    return async () => {
      const before = monotonicUs();
      const [offset] = await log.publish([emitOf(id)]);
      if (typeof offset !== 'number') throw new Error(`the topic of ${id} is gone`);
      times.recordValue(Math.max(1, Math.round(monotonicUs() - before)));
    };
  });
  const seconds = (performance.now() - began) / 1_000;
  return { records: next, seconds, callMs: quantilesMs(times), clientCpuUs: cpuUsSince(cpu) / next };
};

/** Milliseconds until `consume` resolves: the group has agreed, and free lanes are taken. */
const consume = async (): Promise<number> => {
  const began = performance.now();
  const opened = await log.consume({
    group: GROUP,
    topics: { prefix: EMITS },
    maxBatch: 500,
    maxUnacked: 2_000,
    handler: (batch) => {
      received += batch.records.length;
      for (const { key, offset } of batch.records) {
        arrivals.set(key, monotonicUs());
        batch.ack(offset);
      }
      return Promise.resolve();
    },
  });
  if (!(opened instanceof GroupConsumer)) throw new Error('not a consumer of the Kafka engine');
  consumer = opened;
  return performance.now() - began;
};

const held = (): HeldLanes => ({ lanes: [...(consumer?.lanes() ?? [])].length, received });

const traffic = (): TrafficTotals => {
  const io = readFileSync('/proc/self/io', 'utf8');
  const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1]);
  const { user, system } = process.cpuUsage();
  return {
    readBytes: of('rchar'),
    writtenBytes: of('wchar'),
    cpuUs: user + system,
    rssMb: process.memoryUsage.rss() / 2 ** 20,
  };
};

/** Cost of reading all topics once. Each process does that every 0.7 to 1.5 s to find new emitters. */
const metadata = async (): Promise<MetadataCost> => {
  const before = traffic();
  const began = performance.now();
  const topics = await log.topics('');
  const ms = performance.now() - began;
  const after = traffic();
  return { topics: topics.length, ms, bytes: after.readBytes - before.readBytes, cpuUs: after.cpuUs - before.cpuUs };
};

/** Creates the topics of a new emitter and emits once. Returns monotonic µs before the topic and before the record. */
const newEmitter = async ({ n }: { n: number }): Promise<{ readonly key: string; readonly began: number }> => {
  const id = emitter(n);
  const began = monotonicUs();
  for (const { topic, retention, partitions: count } of policy.ownedBy(id))
    await log.createTopic(topic, retention, count);
  await log.publish([emitOf(id)]);
  return { key: id, began };
};

const api: TopicClientApi = {
  create,
  publish,
  consume,
  held,
  traffic,
  metadata,
  newEmitter,
  arrivedAt: ({ key }) => arrivals.get(key) ?? null,
  close: () => log.close(),
};
servePart({ ...api }, '');
