import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { startKafkaBroker } from '#test/engines/kafka-broker.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { describeMachine } from './machine.js';
import { topicReport } from './topic-report.js';
import { LayoutRun, type LayoutFigures } from './topic-run.js';
import { type Layout } from './topic-parts.js';

exitOnSignals();

/** Compares topics per emitter with shared topics on a real broker, with the product's own Kafka engine. */

const number = (text: string): number => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('a number above 0 is needed');
  return Number(text);
};

const LAYOUTS: readonly Layout[] = ['per_emitter', 'shared'];
const today = new Date().toISOString().slice(0, 10);
const options = new Command('topic-layouts')
  .description('Simulates many emitters on a Kafka broker in both topic layouts; writes a table and the raw figures.')
  .option('--emitters <n,…>', 'numbers of emitters', (text) => text.split(',').map(number), [100, 1_000, 10_000])
  .option('--partitions <n>', 'of each shared topic', number, 48)
  .option('--layouts <names>', 'per_emitter, shared', (text) => LAYOUTS.filter((name) => text.includes(name)), LAYOUTS)
  .option('--heap <MB>', 'of the broker', number, 1_024)
  .option('--limit <seconds>', 'of each step', number, 240)
  .option('--flush', 'every append waits for the disk', false)
  .option(
    '--out <file>',
    'Markdown; the raw figures go beside it as .json',
    `docs/performance/results/${today}-topics.md`,
  )
  .parse()
  .opts<{
    readonly emitters: readonly number[];
    readonly partitions: number;
    readonly layouts: readonly Layout[];
    readonly heap: number;
    readonly limit: number;
    readonly flush: boolean;
    readonly out: string;
  }>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Measures each case on a new broker with empty disks. */
const measureOne = async (layout: Layout, emitters: number): Promise<LayoutFigures> => {
  const dir = tempDir('topics');
  const settings: Record<string, string> = options.flush ? { 'log.flush.interval.messages': '1' } : {};
  const restart = (port: number) =>
    startKafkaBroker({ dir, heapMb: options.heap, settings, forLoad: true, ...(port > 0 ? { port } : {}) });
  const broker = await restart(0);
  const { partitions, limit } = options;
  const run = new LayoutRun({ layout, emitters, partitions, limitMs: limit * 1_000, dir, broker, restart, say });
  try {
    return await run.measure();
  } finally {
    await run.close();
    removeDir(dir);
  }
};

const simulate = async (): Promise<void> => {
  const machine = await describeMachine();
  const file = resolve(ROOT, options.out);
  mkdirSync(dirname(file), { recursive: true });
  const { dir, name } = parse(file);
  const results: LayoutFigures[] = [];
  for (const emitters of options.emitters) {
    for (const layout of options.layouts) {
      say(`${layout} ${emitters}`);
      results.push(await measureOne(layout, emitters));
      // Written after each case, so that a broker that fails at the largest number does not lose the figures of the
      // others.
      writeFileSync(join(dir, `${name}.json`), `${JSON.stringify({ machine, options, results }, null, 2)}\n`);
      writeFileSync(file, topicReport(machine, options, results));
    }
  }
  say(topicReport(machine, options, results));
};

await simulate();
