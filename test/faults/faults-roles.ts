import { Command, InvalidArgumentError } from 'commander';
import { type RoleName, ROLES } from '#test/harness/deployment.js';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { startEngineServers } from './engine-servers.js';
import { type Fault, type FaultFigures, FAULTS, runFaultRounds } from './fault-rounds.js';

exitOnSignals();

interface Options {
  readonly rounds: number;
  readonly copies: number;
  readonly seed: number;
  readonly threeBrokers: boolean;
  readonly stopSeconds: number;
  readonly cutSeconds: number;
  readonly withinSeconds: number;
  readonly roles: readonly RoleName[];
  readonly faults: readonly Fault[];
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const some =
  <T extends string>(all: readonly T[]) =>
  (text: string): readonly T[] =>
    text.split(',').map((name) => {
      const known = all.find((each) => each === name);
      if (known === undefined) throw new InvalidArgumentError(`"${name}" is none of ${all.join(', ')}`);
      return known;
    });

const options = new Command('faults:roles')
  .description(
    'Starts Kafka, FerretDB and EventStoreDB (of SLUICE_TEST_EVENTSTORE_HOME), every role as a ' +
      'process, load with callers that wait for responses, and deployments. Each round takes the next role, kills it, ' +
      'stops it for a while and cuts it from its engines. Checks that every process answers again in time, that nothing ' +
      'was lost, and that read models equal a rebuild.',
  )
  .option('--rounds <n>', 'each of one role', whole, 20)
  .option('--copies <n>', 'processes of each role', whole, 1)
  .option('--three-brokers', 'three brokers and copies of each topic', false)
  .option('--roles <names>', `some of ${ROLES.join(', ')}, in the order of the rounds`, some(ROLES), ROLES)
  .option('--faults <names>', `some of ${FAULTS.join(', ')}, in the order of a round`, some(FAULTS), FAULTS)
  .option('--stop-seconds <n>', 'for which a process is stopped', whole, 80)
  .option('--cut-seconds <n>', 'for which a process is cut from its engines', whole, 45)
  .option('--within-seconds <n>', 'in which every process must answer again', whole, 30)
  .option('--seed <n>', 'of the victims and moments', whole, Date.now() % 1_000_000)
  .parse()
  .opts<Options>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const seconds = (ms: number | undefined): string => (ms === undefined ? 'never' : (ms / 1_000).toFixed(1));

const COLUMNS: readonly (readonly [string, (figures: FaultFigures) => string | number])[] = [
  ['round', ({ round }) => round],
  ['process         ', ({ process: name }) => name],
  ['fault        ', ({ fault, mode }) => (mode === undefined ? fault : `${fault} ${mode}`)],
  ['answers after s', ({ answersMs }) => seconds(answersMs)],
  ['acknowledged', ({ acknowledged }) => acknowledged],
  ['refused', ({ refused }) => refused],
  ['unanswered', ({ unanswered }) => unanswered],
  ['late', ({ late }) => late],
  ['delivered', ({ delivered }) => delivered],
  ['repeats', ({ repeats }) => repeats],
  ['deployed', ({ deployed }) => deployed],
  ['ended', ({ ended }) => ended.length],
  ['problems', ({ problems }) => problems.length],
  ['slowest answer; most lines of a process', ({ slowest, lines }) => `${slowest}; ${lines}`],
];

/** Far above the time that the waits of all rounds may take. Ends the run, and with it what it started. */
const longestMs = (): number => {
  const { rounds, faults, stopSeconds, cutSeconds, withinSeconds } = options;
  const each = faults.length * (5 * withinSeconds + 60) + stopSeconds + cutSeconds + 180;
  return (rounds * each + 1_800) * 1_000;
};

const run = async (): Promise<number> => {
  const { rounds, copies, roles, faults, seed, threeBrokers, stopSeconds, cutSeconds, withinSeconds } = options;
  const engines = await startEngineServers(threeBrokers);
  try {
    const brokers = threeBrokers ? 3 : 1;
    say(`${rounds} rounds, ${copies} of each role, brokers: ${brokers}, seed ${seed}`);
    say(COLUMNS.map(([title]) => title).join(' | '));
    const { problems, ...figures } = await runFaultRounds({
      engines: engines.addresses,
      env: { SLUICE_KAFKA_REPLICATION: String(brokers) },
      rounds,
      copies,
      roles,
      faults,
      seed,
      stopMs: stopSeconds * 1_000,
      cutMs: cutSeconds * 1_000,
      withinMs: withinSeconds * 1_000,
      onFault: (of) => {
        say(COLUMNS.map(([title, value]) => String(value(of)).padStart(title.length)).join(' | '));
        for (const line of [...of.problems, ...of.ended.map((text) => `ended on its own: ${text}`)]) say(`  ${line}`);
      },
      onRound: (round, quietMs, found) => {
        say(`round ${round}: quiet after ${seconds(quietMs)} s, ${found.length} problems`);
        for (const line of found) say(`  ${line}`);
      },
    });
    say(JSON.stringify(figures, null, 2));
    say(
      problems.length === 0
        ? `every process answered within ${withinSeconds} s after each of ${figures.faults} faults; nothing lost, ` +
            'nothing twice under other ids, read models equal a rebuild'
        : problems.join('\n'),
    );
    return problems.length === 0 ? 0 : 1;
  } finally {
    await engines.stop();
  }
};

setTimeout(() => {
  say('the run takes far longer than its waits allow: it is ended');
  process.exit(1);
}, longestMs()).unref();
process.exitCode = await run();
