import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { describeMachine } from './machine.js';
import { PartProcess } from './part-process.js';
import { cpuSince, usageOf, type PartUsage } from './part-usage.js';
import { type SinkApi } from './parts.js';
import { startRoles, type RolesTarget } from './roles-target.js';

exitOnSignals();

/** What eight roles and their engines cost with nothing to do: CPU time from /proc, so other work on the machine hardly counts. */

const count = (text: string): number => {
  if (!(Number(text) >= 1)) throw new InvalidArgumentError('a number of at least 1 is needed');
  return Math.floor(Number(text));
};

const options = new Command('idle-roles')
  .description('Measures the CPU time of eight roles and three engines with nothing to do; writes a Markdown table.')
  .option('--seconds <n>', 'of each round', count, 30)
  .option('--rounds <n>', 'one after the other on the same processes', count, 3)
  .option('--emitters <n>', 'sources, each with a webhook', count, 1)
  .option('--profile <folder>', 'for a V8 profile of each role over one more round')
  .parse()
  .opts<{
    readonly seconds: number;
    readonly rounds: number;
    readonly emitters: number;
    readonly profile?: string;
  }>();

/** The compilers of the Java and JavaScript machines have finished with what idling needs. */
const CALM_MS = 30_000;

const round = async (roles: RolesTarget): Promise<readonly PartUsage[]> => {
  const before = usageOf(roles.parts());
  await pause(options.seconds * 1_000);
  return cpuSince(before, usageOf(roles.parts()));
};

const percentOf = ({ cpuUs }: PartUsage): number => cpuUs / options.seconds / 10_000;

const tableOf = (rounds: readonly (readonly PartUsage[])[]): string => {
  const names = [...new Set(rounds.flatMap((parts) => parts.map(({ name }) => name)))];
  const shown = (parts: readonly PartUsage[], name: string): number =>
    parts.filter((part) => part.name === name).reduce((sum, part) => sum + percentOf(part), 0);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const row = (title: string, values: readonly number[]): string =>
    line([title, ...values.map((value) => value.toFixed(2))]);
  return [
    line(['CPU, % of a core', ...rounds.map((_, n) => `round ${n + 1}`)]),
    line(['---', ...rounds.map(() => '---:')]),
    ...names.map((name) =>
      row(
        name,
        rounds.map((parts) => shown(parts, name)),
      ),
    ),
    row(
      'all',
      rounds.map((parts) => parts.reduce((sum, part) => sum + percentOf(part), 0)),
    ),
  ].join('\n');
};

const profiled = async (roles: RolesTarget): Promise<void> => {
  const toggle = (): void => roles.deployment.all.forEach(({ pid }) => process.kill(pid, 'SIGUSR2'));
  toggle();
  await pause(options.seconds * 1_000);
  toggle();
  await pause(5_000);
};

const env = (): Readonly<Record<string, string>> => {
  if (options.profile === undefined) return {};
  const dir = resolve(options.profile);
  mkdirSync(dir, { recursive: true });
  return { NODE_OPTIONS: `--import ${new URL('./profiler.js', import.meta.url).href}`, BENCH_PROFILE_DIR: dir };
};

const machine = await describeMachine();
const sink = await PartProcess.start<SinkApi>('./sink.js');
try {
  const { emitters } = options;
  const roles = await startRoles(sink.url, { kafkaHeapMb: 512, kafkaFlush: true, copies: {}, emitters, env: env() });
  try {
    await pause(CALM_MS);
    const rounds: (readonly PartUsage[])[] = [];
    for (let n = 0; n < options.rounds; n++) rounds.push(await round(roles));
    process.stdout.write(
      `Commit ${machine.commit}, Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load average ${machine.loadBefore}; ` +
        `${emitters} source(s), rounds of ${options.seconds} s\n\n${tableOf(rounds)}\n`,
    );
    if (options.profile !== undefined) await profiled(roles);
  } finally {
    await roles.stop();
  }
} finally {
  await sink.stop();
}
