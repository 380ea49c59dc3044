import { Command, InvalidArgumentError } from 'commander';
import { startFerretDb } from '#test/engines/ferretdb.js';
import { startEventStore } from '#test/engines/eventstore-server.js';
import { startKafkaCluster } from '#test/engines/kafka-cluster.js';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { LAST_RELEASE, lastRelease, lastReleaseMissing } from './last-release.js';
import { runMixedGroup } from './mixed-group.js';
import { runUpgrade } from './roles-upgrade.js';

exitOnSignals();

const CONTROL_ATTEMPTS = 3;

const PARTS = ['groups', 'roles'] as const;
type Part = (typeof PARTS)[number];

interface Options {
  readonly only?: Part;
  readonly loadMs: number;
  readonly kills: boolean;
}

const part = (text: string): Part => {
  const known = PARTS.find((each) => each === text);
  if (known === undefined) throw new InvalidArgumentError(`"${text}" is none of ${PARTS.join(', ')}`);
  return known;
};

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const options = new Command('upgrade:roles')
  .description(
    'Starts three Kafka brokers. groups: members of the last release and of this one share lanes. roles: with FerretDB ' +
      'and EventStoreDB, every role of the last release as two processes or one, and load; replaces ' +
      'each process by one of this checkout, and then back, and checks that nothing was lost and that read models ' +
      'equal a rebuild.',
  )
  .option('--only <part>', `one of ${PARTS.join(', ')}`, part)
  .option('--load-ms <n>', 'how long both releases work side by side between two steps', whole, 2_000)
  .option('--no-kills', 'do not kill a process of each release while a role has both')
  .parse()
  .opts<Options>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Members of both releases in one group; the control shows that a form which is used too early is noticed. */
const groupProblems = async (brokers: readonly string[], lastRelease: string): Promise<readonly string[]> => {
  const report = await runMixedGroup({ brokers, lastRelease, isControl: false });
  say(`groups: ${JSON.stringify(report)}`);
  const seen = await controlOverlaps(brokers, lastRelease);
  return [
    ...report.overlaps,
    ...(report.lost > 0 ? [`${report.lost} records were lost`] : []),
    ...(report.moves > 0 ? [] : ['no lane moved between the releases']),
    ...(seen ? [] : ['the control had no lane with two at work, so the test shows nothing']),
  ];
};

/** Whether a lane had two at work. It takes a member that is in the middle of one at the right moment. */
const controlOverlaps = async (brokers: readonly string[], lastRelease: string): Promise<boolean> => {
  for (let attempt = 0; attempt < CONTROL_ATTEMPTS; attempt++) {
    const control = await runMixedGroup({ brokers, lastRelease, isControl: true });
    say(`groups, control: ${JSON.stringify(control)}`);
    if (control.overlaps.length > 0) return true;
  }
  return false;
};

const roleProblems = async (brokers: readonly string[], program: string): Promise<readonly string[]> => {
  const mongo = await startFerretDb();
  const eventStore = await startEventStore();
  try {
    const { problems, ...figures } = await runUpgrade({
      engines: { kafka: brokers.join(','), mongo: mongo.url, eventStore: eventStore.url },
      lastRelease: program,
      loadMs: options.loadMs,
      kills: options.kills,
      onStep: (line) => say(`${new Date().toISOString().slice(11, 19)} ${line}`),
    });
    say(JSON.stringify(figures, null, 2));
    return problems;
  } finally {
    await Promise.allSettled([eventStore.stop(), mongo.stop()]);
  }
};

const run = async (): Promise<number> => {
  const missing = await lastReleaseMissing();
  if (missing !== undefined) {
    say(`not run: ${missing}`);
    return 0;
  }
  say(`building ${LAST_RELEASE} unless it is in the cache …`);
  const program = await lastRelease();
  const kafka = await startKafkaCluster();
  try {
    const { only } = options;
    const problems = [
      ...(only === 'roles' ? [] : await groupProblems(kafka.addresses, program)),
      ...(only === 'groups' ? [] : await roleProblems(kafka.addresses, program)),
    ];
    const clean = 'nothing lost, nothing twice under other ids, read models equal a rebuild, both ways';
    say(problems.length === 0 ? clean : problems.join('\n'));
    return problems.length === 0 ? 0 : 1;
  } finally {
    await kafka.stop();
  }
};

process.exitCode = await run();
