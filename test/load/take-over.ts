import { Command, InvalidArgumentError } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import { GroupConsumer } from '#libs/engines/kafka/consume/group-consumer.js';
import { openKafka, type KafkaStreamLog } from '#libs/engines/kafka/index.js';
import { ALL_FORMS } from '#libs/kernel/forms.js';
import { type Consumer } from '#libs/stream-log/stream-log.js';
import { startKafkaBroker, type KafkaBroker } from '#test/engines/kafka-broker.js';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { describeMachine } from './machine.js';
import { treeUsage } from './process-tree.js';

exitOnSignals();

/** What a change of members of a group costs: its lanes are shared out among members that start, join, leave and die. */

const numbers = (text: string): number[] => {
  const given = text.split(',').map(Number);
  if (!given.every((each) => Number.isInteger(each) && each > 0)) throw new InvalidArgumentError('numbers above 0');
  return given;
};

const options = new Command('take-over')
  .description('Measures how a group shares its lanes anew when members start, join, leave and die; writes a table.')
  .option('--lanes <n>', 'partitions, in topics of 50', numbers, [10_000])
  .option('--members <list>', 'sizes of the group', numbers, [2, 8, 32])
  .option('--limit <seconds>', 'of each step', numbers, [120])
  .parse()
  .opts<{ readonly lanes: number[]; readonly members: number[]; readonly limit: number[] }>();

const LANES = options.lanes[0] ?? 0;
const LIMIT_MS = (options.limit[0] ?? 0) * 1_000;
const OF_A_TOPIC = 50;
const GROUP = 'g';

interface Member {
  readonly log: KafkaStreamLog;
  readonly consumer: GroupConsumer;
}

let opened = 0;
const openLog = ({ brokers }: KafkaBroker): Promise<KafkaStreamLog> =>
  openKafka({
    brokers: [brokers],
    prefix: 'take-over.',
    clientId: `member-${++opened}`,
    replicationFactor: 1,
    forms: ALL_FORMS,
    durability: 'best_effort',
    onWarning: (text, fields) => void process.stderr.write(`${text} ${JSON.stringify(fields)}\n`),
  });

const join = async (broker: KafkaBroker): Promise<Member> => {
  const log = await openLog(broker);
  const consumer: Consumer = await log.consume({
    group: GROUP,
    topics: { prefix: 't.' },
    maxBatch: 10,
    maxUnacked: 10,
    handler: async () => undefined,
  });
  if (!(consumer instanceof GroupConsumer)) throw new Error('the consumer is of another engine');
  return { log, consumer };
};

const held = (members: readonly Member[]): readonly number[] =>
  members.map(({ consumer }) => [...consumer.lanes()].length);
const sum = (counts: readonly number[]): number => counts.reduce((all, each) => all + each, 0);

interface Step {
  readonly seconds: number;
  /** CPU of all members, which share one process, and of the broker. */
  readonly memberCpu: number;
  readonly brokerCpu: number;
  readonly least: number;
  readonly most: number;
}

/** Measures until the members hold every lane, each about its share. */
const measured = async (broker: KafkaBroker, members: () => readonly Member[], act: () => Promise<unknown>) => {
  const usage = () => ({
    at: performance.now(),
    members: process.cpuUsage(),
    broker: treeUsage(broker.pid).mainCpuUs,
  });
  const before = usage();
  await act();
  for (;;) {
    const counts = held(members());
    if (sum(counts) === LANES && Math.min(...counts) > LANES / counts.length / 2) {
      const after = usage();
      const cpu = process.cpuUsage(before.members);
      const step: Step = {
        seconds: (after.at - before.at) / 1_000,
        memberCpu: (cpu.user + cpu.system) / 1e6,
        brokerCpu: (after.broker - before.broker) / 1e6,
        least: Math.min(...counts),
        most: Math.max(...counts),
      };
      return step;
    }
    if (performance.now() - before.at > LIMIT_MS) throw new Error(`not shared out in time: ${counts.join()}`);
    await pause(20);
  }
};

const lineOf = (members: number, what: string, step: Step | string): string =>
  typeof step === 'string'
    ? `| ${members} | ${what} | ${step} | | | |`
    : `| ${members} | ${what} | ${step.seconds.toFixed(1)} | ${step.memberCpu.toFixed(1)} | ${step.brokerCpu.toFixed(1)} | ${step.least} to ${step.most} |`;

const measureGroup = async (broker: KafkaBroker, size: number): Promise<void> => {
  const members: Member[] = [];
  const step = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    const result = await measured(broker, () => members, act).catch((error: unknown) => String(error));
    process.stdout.write(`${lineOf(size, what, result)}\n`);
  };
  await step('all start', async () => {
    const started = await Promise.all(Array.from({ length: size }, () => join(broker)));
    members.push(...started);
  });
  await step('one more joins', async () => void members.push(await join(broker)));
  await step('one leaves', async () => {
    const leaving = members.pop();
    await leaving?.log.close();
  });
  await Promise.all(members.map(({ log }) => log.close()));
};

const machine = await describeMachine();
const broker = await startKafkaBroker({ heapMb: 1_024, forLoad: true });
try {
  const admin = await openLog(broker);
  for (let n = 0; n * OF_A_TOPIC < LANES; n++) await admin.createTopic(`t.${n}`, {}, OF_A_TOPIC);
  process.stdout.write(
    `Commit ${machine.commit}, Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load average ${machine.loadBefore}; ` +
      `${LANES} lanes, all members in one process\n\n` +
      '| members | change | s | CPU of all members, s | CPU of the broker, s | lanes of a member |\n|---:|---|---:|---:|---:|---|\n',
  );
  for (const size of options.members) await measureGroup(broker, size);
  await admin.close();
} finally {
  await broker.stop();
}
