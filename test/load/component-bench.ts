/**
 * `npm run bench:components`: measures deploys, first runs, warm runs, and what deployed sources cost. Prints a table
 * and the raw values as JSON (docs/performance/README.md#components).
 */
import { Command, InvalidArgumentError } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { SampleBook, tableOf } from './component-samples.js';
import { measureDeploys } from './deploy-figures.js';
import { measureFirstRuns } from './first-run-figures.js';
import { measureFleet } from './fleet-figures.js';
import { describeMachine } from './machine.js';
import { measureWarmRuns } from './warm-figures.js';
import { detectIsolation, type IsolationSetting } from '#libs/sandbox/jail/detect.js';

exitOnSignals();

const PARTS = ['deploy', 'first', 'warm', 'memory', 'idle'] as const;
type Part = (typeof PARTS)[number];

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const partsOf = (text: string): readonly Part[] =>
  text.split(',').map((name) => {
    const known = PARTS.find((part) => part === name);
    if (known === undefined) throw new InvalidArgumentError(`"${name}" is none of ${PARTS.join(', ')}`);
    return known;
  });

const options = new Command('bench:components')
  .description('Measures the component model; prints a table and the raw values as JSON.')
  .option('--only <parts>', `of ${PARTS.join(', ')}`, partsOf, PARTS)
  .option('--rounds <n>', 'of each part', count, 3)
  .option('--each <n>', 'deploys of each kind, and sources that run first, in a round', count, 5)
  .option('--sources <n>', 'deployed for memory and idle', count, 1_000)
  .option('--warm <n>', 'sources that run, for memory', count, 50)
  .option('--seconds <n>', 'of each measurement of warm runs, and of idling', count, 3)
  .parse()
  .opts<{
    readonly only: readonly Part[];
    readonly rounds: number;
    readonly each: number;
    readonly sources: number;
    readonly warm: number;
    readonly seconds: number;
  }>();

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const bench = async (): Promise<void> => {
  const { only, rounds, each, sources, warm, seconds } = options;
  const machine = await describeMachine();
  const setting = (process.env.SLUICE_ISOLATION ?? 'auto') as IsolationSetting;
  const level = await detectIsolation(setting);
  const isolation = level.name;
  const book = new SampleBook();
  const took: Record<string, number> = {};
  const timed = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now();
    await work();
    took[name] = Math.round((performance.now() - startedAt) / 100) / 10;
    say(`${name}: ${took[name]} s`);
  };
  const fleet = (['memory', 'idle'] as const).filter((part) => only.includes(part));
  const ms = seconds * 1_000;
  if (only.includes('deploy')) await timed('deploy', () => measureDeploys(book, rounds, each, say));
  if (only.includes('first')) await timed('first', () => measureFirstRuns(book, rounds, each));
  if (only.includes('warm')) await timed('warm', () => measureWarmRuns(book, level, rounds, ms));
  if (fleet.length > 0)
    await timed(fleet.join(' and '), () => measureFleet(book, { sources, warm, rounds, idleMs: ms, parts: fleet }));
  const figures = book.summaries();
  process.stdout.write(`Isolation: ${isolation}\n\n${tableOf(figures)}\n\n`);
  process.stdout.write(`${JSON.stringify({ machine, isolation, options, seconds: took, figures })}\n`);
};

await bench();
