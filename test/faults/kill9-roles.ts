import { Command, InvalidArgumentError } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { type EngineAddresses } from '#test/harness/deployment.js';
import { type EngineServers, startEngineServers } from './engine-servers.js';
import { measureRouterStart } from './router-start.js';
import { queuedRoles } from './queued-roles.js';
import { runQueuedRepeats } from './queued-repeats.js';
import { type RoundFigures, runRolesRounds } from './roles-rounds.js';
import { runWorkflowKills } from './workflow-kills.js';
import { rolesToKill } from './workflow-kill-targets.js';

exitOnSignals();

interface Options {
  readonly rounds: number;
  readonly copies: number;
  readonly brokerEvery: number;
  readonly seed: number;
  readonly threeBrokers: boolean;
  readonly router10k: boolean;
  readonly queued?: number;
  readonly workflows?: number;
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const options = new Command('kill9:roles')
  .description(
    'Starts Kafka, FerretDB and EventStoreDB (of SLUICE_TEST_EVENTSTORE_HOME), every role as a ' +
      'process, and load; kills each role with -9 in turn and the broker now and then, and checks that nothing was lost ' +
      'and that read models equal a rebuild.',
  )
  .option('--rounds <n>', 'in each of which every role is killed once', whole, 10)
  .option('--copies <n>', 'processes of each role', whole, 1)
  .option('--broker-every <n>', 'the broker is killed in every nth round', whole, 5)
  .option('--three-brokers', 'three brokers and copies of each topic; each round kills another broker', false)
  .option('--seed <n>', 'of the moments of killing', whole, Date.now() % 1_000_000)
  .option('--router-10k', 'instead: how soon a killed router routes again with 10,000 subscriptions', false)
  .option('--queued <n>', 'instead: so many events of each of five emitters wait for one listener', whole)
  .option('--workflows <n>', 'instead: so many runs of workflows are in flight', whole)
  .parse()
  .opts<Options>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const COLUMNS: readonly (readonly [string, (round: RoundFigures) => string | number])[] = [
  ['round', ({ round }) => round],
  ['kills', ({ kills }) => kills],
  ['broker', ({ brokerKills }) => brokerKills],
  ['acknowledged', ({ acknowledged }) => acknowledged],
  ['refused', ({ refused }) => refused],
  ['delivered', ({ delivered }) => delivered],
  ['repeats', ({ duplicates }) => duplicates],
  ['ticks', ({ ticks }) => ticks],
  ['quiet after ms', ({ quietMs }) => Math.round(quietMs)],
  ['slowest start ms', ({ slowestStartMs, slowestRole }) => `${Math.round(slowestStartMs)} ${slowestRole}`],
  ['problems', ({ problems }) => problems.length],
];

const killRounds = async (engines: Awaited<ReturnType<typeof startEngineServers>>): Promise<number> => {
  const { rounds, copies, threeBrokers, seed } = options;
  const brokers = threeBrokers ? 3 : 1;
  say(`${rounds} rounds, ${copies} of each role, brokers: ${brokers}, seed ${seed}`);
  say(COLUMNS.map(([title]) => title).join(' | '));
  const { problems, ...figures } = await runRolesRounds({
    rounds,
    copies,
    brokerEvery: threeBrokers ? 1 : options.brokerEvery,
    env: { SLUICE_KAFKA_REPLICATION: String(brokers) },
    seed,
    engines: engines.addresses,
    broker: engines.broker,
    onRound: (round) => {
      say(COLUMNS.map(([title, of]) => String(of(round)).padStart(title.length)).join(' | '));
      round.problems.forEach(say);
    },
  });
  say(JSON.stringify(figures, null, 2));
  say(
    problems.length === 0
      ? 'nothing lost, nothing twice under other ids, read models equal a rebuild'
      : problems.join('\n'),
  );
  return problems.length === 0 ? 0 : 1;
};

const queuedRounds = async (engines: EngineAddresses, queued: number): Promise<number> => {
  const { rounds, seed } = options;
  say(`${rounds} rounds with 5 x ${queued} queued, seed ${seed}`);
  const { runs, failed, problems } = await runQueuedRepeats(queuedRoles(engines), {
    rounds,
    seed,
    emitters: 5,
    queued,
    say,
  });
  say(
    problems.length === 0 ? `${runs.join(' and ')} runs, none twice; ${failed} failed to start` : problems.join('\n'),
  );
  return problems.length === 0 ? 0 : 1;
};

const workflowRounds = async (engines: EngineAddresses, inFlight: number): Promise<number> => {
  const { rounds, seed } = options;
  say(`${rounds} rounds with ${inFlight} runs of workflows in flight, seed ${seed}`);
  const { problems, ...figures } = await runWorkflowKills(rolesToKill(engines), { rounds, seed, inFlight, say });
  say(JSON.stringify(figures, null, 2));
  say(problems.length === 0 ? 'nothing lost, no stored outcome changed' : problems.join('\n'));
  return problems.length === 0 ? 0 : 1;
};

const measured = ({ addresses }: EngineServers): Promise<number> | undefined => {
  if (options.router10k) return measureRouterStart(addresses, say);
  if (options.workflows !== undefined) return workflowRounds(addresses, options.workflows);
  return options.queued === undefined ? undefined : queuedRounds(addresses, options.queued);
};

const engines = await startEngineServers(options.threeBrokers);
try {
  process.exitCode = await (measured(engines) ?? killRounds(engines));
} finally {
  await engines.stop();
}
