import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ROOT } from '#test/harness/paths.js';
import { describeMachine } from './machine.js';
import { type Rig } from './measure.js';
import { PartProcess } from './part-process.js';
import { type GeneratorApi, type SinkApi } from './parts.js';
import { reportOf } from './report.js';
import { runPlan, SCENARIOS, type Plan, type Scenario } from './scenarios.js';

interface Options extends Plan {
  readonly out: string;
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

/** Overload is asked for by name: with the load on the same machine it measures the load as much as the target. */
const DEFAULTS = SCENARIOS.filter((name) => name !== 'overload');
const today = new Date().toISOString().slice(0, 10);
const options = new Command('bench')
  .description('Measures Sluice and the floor in turns; writes a Markdown table and the raw figures.')
  .option('--duration <seconds>', 'of each measurement', number, 10)
  .option('--memory-duration <seconds>', 'of the memory run', number, 300)
  .option('--rounds <n>', 'each target is measured this often, the table shows medians', number, 3)
  .option('--rate <events/s>', 'of the open loop', number, 100)
  .option('--connections <n>', 'of the closed loop', number, 64)
  .option('--sources <n>', 'to deploy in the scenario of that name', number, 1000)
  .option('--scenarios <names>', `of ${SCENARIOS.join(', ')}`, oneOf<Scenario>(SCENARIOS), DEFAULTS)
  .option('--targets <names>', 'floor, Sluice or both', oneOf(['floor', 'Sluice'] as const), ['floor', 'Sluice'])
  .addOption(new Option('--client <kind>', 'of the load').choices(['raw', 'undici']).default('undici'))
  .option(
    '--out <file>',
    'Markdown; the raw figures go beside it as .json',
    join('docs/performance/results', `${today}.md`),
  )
  .parse()
  .opts<Options>();

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
    const results = await runPlan(options, rig, say);
    const report = reportOf(machine, options, results);
    const file = resolve(ROOT, options.out);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, report);
    const { dir, name } = parse(file);
    writeFileSync(join(dir, `${name}.json`), `${JSON.stringify({ machine, options, results }, null, 2)}\n`);
    say(`\n${report}\nwritten to ${options.out}`);
  } finally {
    await rig.generator.stop();
    await rig.sink.stop();
  }
};

await bench();
