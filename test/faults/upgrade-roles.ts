import { Command, InvalidArgumentError } from 'commander';
import { startFerretDb } from '#test/engines/ferretdb.js';
import { eventStoreHome, startEventStore } from '#test/engines/eventstore-server.js';
import { startKafkaCluster } from '#test/engines/kafka-cluster.js';
import { startStandIn } from '#test/engines/stand-in-process.js';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { LAST_RELEASE, lastRelease, lastReleaseMissing } from './last-release.js';
import { runUpgrade } from './roles-upgrade.js';

exitOnSignals();

interface Options {
  readonly loadMs: number;
  readonly kills: boolean;
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const options = new Command('upgrade:roles')
  .description(
    'Starts three Kafka brokers, FerretDB and EventStoreDB (or its stand-in), every role of the last release as two ' +
      'processes or one, and load; replaces each process by one of this checkout, and then back, and checks that ' +
      'nothing was lost and that read models equal a rebuild.',
  )
  .option('--load-ms <n>', 'how long both releases work side by side between two steps', whole, 2_000)
  .option('--no-kills', 'do not kill a process of each release while a role has both')
  .parse()
  .opts<Options>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const run = async (): Promise<number> => {
  const missing = await lastReleaseMissing();
  if (missing !== undefined) {
    say(`not run: ${missing}`);
    return 0;
  }
  say(`building ${LAST_RELEASE} unless it is in the cache …`);
  const program = await lastRelease();
  const home = eventStoreHome();
  const kafka = await startKafkaCluster();
  const mongo = await startFerretDb();
  const eventStore = await (home === undefined ? startStandIn() : startEventStore(home));
  try {
    const { problems, ...figures } = await runUpgrade({
      engines: { kafka: kafka.addresses.join(','), mongo: mongo.url, eventStore: eventStore.url },
      lastRelease: program,
      ...options,
      onStep: (line) => say(`${new Date().toISOString().slice(11, 19)} ${line}`),
    });
    say(JSON.stringify(figures, null, 2));
    const clean = 'nothing lost, nothing twice under other ids, read models equal a rebuild, both ways';
    say(problems.length === 0 ? clean : problems.join('\n'));
    return problems.length === 0 ? 0 : 1;
  } finally {
    await Promise.allSettled([eventStore.stop(), mongo.stop(), kafka.stop()]);
  }
};

process.exitCode = await run();
