import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { Kafka, logLevel, type SASLOptions } from 'kafkajs';
import { openKafka, type KafkaSecurity } from '#libs/engines/kafka/index.js';
import { ALL_FORMS } from '#libs/kernel/forms.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { startSecureKafkaBroker, USER, type SecureKafkaBroker } from '#test/engines/kafka-secure-broker.js';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { describeMachine } from './machine.js';

exitOnSignals();

/** What a record costs this process over each kind of connection: with our wire, and with kafkajs's public clients. */

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const { rounds, calls, records } = new Command('wire-bench')
  .description(
    'Processor time of this process for a record, sent and received, with our wire and with kafkajs in turns.',
  )
  .option('--rounds <n>', 'each with the other one first', whole, 4)
  .option('--calls <n>', 'of a round, one after another', whole, 20)
  .option('--records <n>', 'of a call', whole, 500)
  .parse()
  .opts<{ readonly rounds: number; readonly calls: number; readonly records: number }>();

const TOPIC = 'wire';
const VALUE = 'x'.repeat(1_000);
const HEADERS = { id: 'inv_0123456789abcdef', kind: 'emit', source: 'dc_1234567', workspace: 'o_1234567' };
const WARM_UP_CALLS = 10;

/** One of the two, connected. */
interface Client {
  publish(calls: number): Promise<void>;
  /** Reads so many records from the topic's start. */
  read(count: number): Promise<void>;
  close(): Promise<void>;
}

interface Connection {
  readonly name: string;
  readonly broker: string;
  readonly security: KafkaSecurity;
}

const connectionsTo = (broker: SecureKafkaBroker): readonly Connection[] => {
  const tls = { ca: readFileSync(broker.authority.ca, 'utf8') };
  const user = { mechanism: 'SCRAM-SHA-512', ...USER } as const;
  return [
    { name: 'plain', broker: broker.plaintext, security: {} },
    { name: 'TLS', broker: broker.ssl, security: { tls } },
    { name: 'TLS and SCRAM-SHA-512', broker: broker.saslSsl, security: { tls, user } },
  ];
};

const openOurs = async ({ broker, security }: Connection, prefix: string): Promise<Client> => {
  const log = await openKafka({
    brokers: [broker],
    prefix,
    clientId: 'wire-bench',
    security,
    replicationFactor: 1,
    forms: ALL_FORMS,
    durability: 'best_effort',
    onWarning: () => undefined,
  });
  await log.createTopic(TOPIC, {});
  const batch: LogRecord[] = Array.from({ length: records }, () => ({
    topic: TOPIC,
    key: 'dc_1234567',
    headers: HEADERS,
    value: VALUE,
  }));
  let groups = 0;
  return {
    async publish(count) {
      for (let n = 0; n < count; n++) await log.publish(batch);
    },
    async read(count) {
      let seen = 0;
      let done: () => void = () => undefined;
      const all = new Promise<void>((resolve) => (done = resolve));
      const consumer = await log.consume({
        group: `ours-${++groups}`,
        topics: { names: [TOPIC] },
        maxBatch: 1_024,
        maxUnacked: 4_096,
        handler: async (got) => {
          for (const { offset } of got.records) got.ack(offset);
          seen += got.records.length;
          if (seen >= count) done();
        },
      });
      await all;
      await consumer.close();
    },
    close: () => log.close(),
  };
};

const openKafkaJs = async ({ broker, security: { tls, user } }: Connection, prefix: string): Promise<Client> => {
  const sasl: SASLOptions | undefined = user && {
    mechanism: 'scram-sha-512',
    username: user.name,
    password: user.password,
  };
  const kafka = new Kafka({
    brokers: [broker],
    clientId: 'wire-bench',
    logLevel: logLevel.NOTHING,
    ...(tls && { ssl: { ca: [tls.ca ?? ''] } }),
    ...(sasl && { sasl }),
  });
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  const topic = `${prefix}${TOPIC}`;
  const messages = Array.from({ length: records }, () => ({ key: 'dc_1234567', headers: HEADERS, value: VALUE }));
  let groups = 0;
  return {
    async publish(count) {
      for (let n = 0; n < count; n++) await producer.send({ topic, messages, acks: -1 });
    },
    async read(count) {
      const consumer = kafka.consumer({ groupId: `${prefix}kafkajs-${++groups}` });
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      let seen = 0;
      await new Promise<void>((resolve, reject) => {
        const run = consumer.run({
          autoCommit: false,
          eachBatch: async ({ batch }) => {
            // As ours hands records over: texts, not bytes.
            for (const { key, value, headers } of batch.messages) textsOf(key, value, headers);
            seen += batch.messages.length;
            if (seen >= count) resolve();
          },
        });
        run.catch(reject);
      });
      await consumer.disconnect();
    },
    close: () => producer.disconnect(),
  };
};

const textsOf = (
  key: Buffer | null,
  value: Buffer | null,
  headers: Readonly<Record<string, unknown>> = {},
): unknown => [
  key?.toString(),
  value?.toString(),
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)])),
];

/** Microseconds of processor time of this process for a record. */
const costOf = async (count: number, work: () => Promise<void>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
};

const median = (values: readonly number[]): string => {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low + high) / 2).toFixed(1);
};

const figuresOf = async (connection: Connection, round: string): Promise<readonly string[]> => {
  const opened = {
    ours: await openOurs(connection, `ours-${round}.`),
    kafkajs: await openKafkaJs(connection, `ours-${round}.`),
  };
  const costs = { ours: { publish: [], read: [] }, kafkajs: { publish: [], read: [] } } as {
    readonly [K in keyof typeof opened]: { readonly publish: number[]; readonly read: number[] };
  };
  const each = calls * records;
  for (const client of Object.values(opened)) await client.publish(WARM_UP_CALLS);
  for (const client of Object.values(opened)) await client.read(each);
  for (let n = 0; n < rounds; n++) {
    const order = n % 2 === 0 ? (['ours', 'kafkajs'] as const) : (['kafkajs', 'ours'] as const);
    for (const name of order) costs[name].publish.push(await costOf(each, () => opened[name].publish(calls)));
    for (const name of order) costs[name].read.push(await costOf(each, () => opened[name].read(each)));
  }
  for (const client of Object.values(opened)) await client.close();
  const { ours, kafkajs } = costs;
  process.stdout.write(`${JSON.stringify({ connection: connection.name, costs })}\n`);
  return [kafkajs.publish, ours.publish, kafkajs.read, ours.read].map(median);
};

const broker = await startSecureKafkaBroker();
try {
  process.stdout.write(`${JSON.stringify(await describeMachine())}\n`);
  const rows: string[] = [];
  for (const [index, connection] of connectionsTo(broker).entries())
    rows.push(`| ${connection.name} | ${(await figuresOf(connection, String(index))).join(' | ')} |`);
  process.stdout.write(
    `\n| µs a record, medians of ${rounds} | kafkajs, produce | wire, produce | kafkajs, fetch | wire, fetch |\n| --- | ---: | ---: | ---: | ---: |\n${rows.join('\n')}\n`,
  );
} finally {
  await broker.stop();
}
