import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type Figures, measure, type Rig } from './measure.js';
import { monotonicUs } from './monotonic.js';
import { PartProcess } from './part-process.js';
import { type GeneratorApi, type SinkApi } from './parts.js';
import { pausesOf, type Pause, type ThreadNotes } from './pause-causes.js';
import { startSluice, startWorkflow, type TargetName } from './targets.js';

exitOnSignals();

const number = (text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('a number above 0 is needed');
  return value;
};
const {
  seconds,
  rate,
  target: name,
  profile,
  all,
  node,
} = new Command('pauses')
  .description('Lists each pause above 5 ms of the threads of a server under an even load, with its cause.')
  .option('--seconds <n>', 'of load after the first ten', number, 60)
  .option('--rate <events/s>', 'of the load', number, 100)
  .addOption(
    new Option('--target <name>', 'a source, or a workflow of one or ten steps')
      .choices(['Sluice', 'workflow-1', 'workflow-10'])
      .default('Sluice'),
  )
  .option('--profile', 'names the functions that ran in a pause; slows the server down', false)
  .option('--all', 'prints each pause, and not only the sums', false)
  .option('--node <options>', 'further options of Node for the server', '')
  .parse()
  .opts<{
    seconds: number;
    rate: number;
    target: Exclude<TargetName, 'floor' | 'roles'>;
    profile: boolean;
    all: boolean;
    node: string;
  }>();

const FIRST_MS = 10_000;
/** Connections that are never used are closed all at once after 20 s, which would be a pause of the load's making. */
const CONNECTIONS = 32;
const PROBE = new URL('./pause-probe.js', import.meta.url).href;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const latencyOf = ({ endToEndMs: { p50, p99, p999, max }, lost }: Figures): string =>
  `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, p99.9 ${p999.toFixed(1)}, max ${max.toFixed(1)} ms, lost ${lost}`;

/** Puts load on a fresh server, from its first moment on. Returns the notes of its threads, and the end of each phase. */
const run = async (rig: Rig, folder: string): Promise<readonly number[]> => {
  const env = {
    NODE_OPTIONS: `--import=${PROBE} ${node}`.trim(),
    SLUICE_PAUSES: folder,
    ...(profile ? { SLUICE_PAUSES_PROFILE: '1' } : {}),
  };
  const target =
    name === 'Sluice' ? await startSluice(rig.sink.url, { env }) : await startWorkflow(rig.sink.url, name, { env });
  const shape = { warmUpMs: 0, connections: CONNECTIONS, client: 'raw', rate } as const;
  const marks = [monotonicUs() / 1_000];
  try {
    for (const durationMs of [FIRST_MS, seconds * 1_000]) {
      say(`${durationMs / 1_000} s: ${latencyOf(await measure(rig, target, { ...shape, durationMs }))}`);
      marks.push(monotonicUs() / 1_000);
    }
  } finally {
    await target.stop();
  }
  return marks;
};

const sums = (pauses: readonly Pause[]): string[] => {
  const groups = new Map<string, number[]>();
  for (const { thread, cause, detail, ms } of pauses) {
    const key = `${thread} | ${cause} | ${detail}`;
    groups.set(key, [...(groups.get(key) ?? []), ms]);
  }
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([key, times]) => `| ${key} | ${times.length} | ${Math.max(...times).toFixed(1)} |`);
};

const rig: Rig = {
  sink: await PartProcess.start<SinkApi>('./sink.js'),
  generator: await PartProcess.start<GeneratorApi>('./load-generator.js'),
};
const folder = tempDir('pauses');
mkdirSync(folder, { recursive: true });
try {
  const [from = 0, warm = 0, to = 0] = await run(rig, folder);
  const notes = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ThreadNotes);
  const pauses = notes.flatMap(pausesOf).sort((a, b) => a.at - b.at);
  for (const [title, start, end] of [
    ['before the load', 0, from],
    ['first ten seconds', from, warm],
    ['warm', warm, to],
  ] as const) {
    const found = pauses.filter(({ at }) => at >= start && at < end);
    say(`\n${title}: ${found.length} pauses\n\n| thread | cause | what | times | longest, ms |\n|---|---|---|---|---|`);
    sums(found).forEach(say);
    if (!all) continue;
    say('');
    for (const { at, ms, thread, cause, detail } of found)
      say(`${((at - from) / 1_000).toFixed(2)} s: ${ms.toFixed(1)} ms, ${thread}, ${cause}: ${detail}`);
  }
} finally {
  removeDir(folder);
  await rig.generator.stop();
  await rig.sink.stop();
}
