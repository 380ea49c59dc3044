import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { ROLES, type RoleName } from '#test/harness/deployment.js';
import { ROOT } from '#test/harness/paths.js';
import { describeMachine } from './machine.js';
import { type Rig } from './measure.js';
import { PartProcess } from './part-process.js';
import { type GeneratorApi, type SinkApi } from './parts.js';
import { reportOf } from './report.js';
import { runPlan, SCENARIOS, type Plan, type Scenario } from './scenarios.js';
import { type TargetName } from './targets.js';

exitOnSignals();

interface Options extends Omit<Plan, 'roles' | 'targets' | 'scenarios'> {
  readonly out?: string;
  readonly targets?: Plan['targets'];
  readonly scenarios?: Plan['scenarios'];
  readonly deployment: 'embedded' | 'roles';
  readonly copies: Partial<Readonly<Record<RoleName, number>>>;
  readonly emitters: number;
  readonly steps?: number;
  readonly sandboxes?: number;
  readonly kafkaHeap: number;
  readonly kafkaFlush: boolean;
  readonly kafkaBrokers: string;
}

const number = (text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('a number above 0 is needed');
  return value;
};

const oneOf =
  <T extends string>(allowed: readonly T[]) =>
  (text: string): readonly T[] =>
    text.split(',').map((name) => {
      const known = allowed.find((one) => one === name);
      if (known === undefined) throw new InvalidArgumentError(`"${name}" is none of ${allowed.join(', ')}`);
      return known;
    });

const copiesOf = (text: string): Options['copies'] =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', count = ''] = pair.split('=');
      const [role = name] = oneOf(ROLES)(name);
      return [role, number(count)];
    }),
  );

/** Overload runs only on request, because load on the same machine distorts it as much as the target. */
const DEFAULTS = SCENARIOS.filter((name) => name !== 'overload');
const targetsOf = oneOf<TargetName>(['floor', 'Sluice', 'workflow-1', 'workflow-10', 'roles']);
const today = new Date().toISOString().slice(0, 10);
const given = new Command('bench')
  .description('Measures Sluice and the floor in turns; writes a Markdown table and the raw figures.')
  .option('--duration <seconds>', 'of each measurement', number, 10)
  .option('--memory-duration <seconds>', 'of the memory run', number, 300)
  .option('--rounds <n>', 'each target is measured this often, the table shows medians', number, 3)
  .option('--rate <events/s>', 'of the open loop', number, 100)
  .option('--connections <n>', 'of the closed loop', number, 64)
  .option('--sources <n>', 'to deploy in the scenario of that name', number, 1000)
  .option('--scenarios <names>', `of ${SCENARIOS.join(', ')}`, oneOf<Scenario>(SCENARIOS))
  .option(
    '--targets <names>',
    'of floor, Sluice, workflow-1, workflow-10, roles (default: floor and Sluice, and what is deployed)',
    targetsOf,
  )
  .addOption(
    new Option('--deployment <kind>', 'roles: a process a role beside them, on engines of its own')
      .choices(['embedded', 'roles'])
      .default('embedded'),
  )
  .option('--copies <role=n,…>', 'processes of a role', copiesOf, {})
  .option('--emitters <n>', 'of the roles: sources that the load is spread over, each with a webhook', number, 1)
  .option('--steps <n>', 'of the roles: workflows of so many steps in the place of sources', number)
  .option('--sandboxes <n>', 'of the roles: processes of a runner (default: 50, or one for each source)', number)
  .option('--kafka-heap <MB>', 'of the broker', number, 512)
  .addOption(
    new Option('--kafka-brokers <n>', 'three keep three copies of each topic').choices(['1', '3']).default('1'),
  )
  .option('--no-kafka-flush', 'appends do not wait for the disk, as in a cluster with three copies of each topic')
  .addOption(new Option('--client <kind>', 'of the load').choices(['raw', 'undici']).default('undici'))
  .option(
    '--out <file>',
    'Markdown; the raw figures go beside it as .json (default: by date, in docs/performance/results)',
  )
  .parse()
  .opts<Options>();

/** Start-up by npm, engine and routing apply to the embedded product only. */
const ROLES_DEFAULTS: readonly Scenario[] = ['steady', 'saturation', 'memory', 'sources'];

const { deployment, copies, emitters, steps, kafkaHeap, kafkaFlush, sandboxes } = given;
const kafkaBrokers = given.kafkaBrokers === '3' ? 3 : 1;
const hasRoles = deployment === 'roles';
const out = given.out ?? join('docs/performance/results', `${today}${hasRoles ? '-roles' : ''}.md`);
const plan: Plan = {
  ...given,
  targets: given.targets ?? (hasRoles ? ['floor', 'Sluice', 'roles'] : ['floor', 'Sluice']),
  scenarios: given.scenarios ?? (hasRoles ? ROLES_DEFAULTS : DEFAULTS),
  roles: { copies, emitters, steps, sandboxes, kafkaHeapMb: kafkaHeap, kafkaFlush, kafkaBrokers },
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const bench = async (): Promise<void> => {
  const machine = await describeMachine();
  say(
    `Node ${machine.node}, ${machine.cores} cores, data on ${machine.filesystem}, load average ${machine.loadBefore}`,
  );
  const rig: Rig = {
    sink: await PartProcess.start<SinkApi>('./sink.js'),
    generator: await PartProcess.start<GeneratorApi>('./load-generator.js'),
  };
  try {
    const results = await runPlan(plan, rig, say);
    const report = reportOf(machine, plan, results);
    const file = resolve(ROOT, out);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, report);
    const { dir, name } = parse(file);
    writeFileSync(join(dir, `${name}.json`), `${JSON.stringify({ machine, options: plan, results }, null, 2)}\n`);
    say(`\n${report}\nwritten to ${out}`);
  } finally {
    await rig.generator.stop();
    await rig.sink.stop();
  }
};

await bench();
