import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { ROOT } from '#test/harness/paths.js';
import { type Commands } from './command.js';

/** The used part of Jest's own report. */
export interface JestFigures {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numPassedTestSuites: number;
  readonly numFailedTestSuites: number;
  readonly numRuntimeErrorTestSuites: number;
}

export interface JestOptions {
  readonly tier: string;
  /** Patterns of paths, as Jest takes them. */
  readonly patterns: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const JEST = ['--experimental-vm-modules', '--no-warnings', join(ROOT, 'node_modules/jest/bin/jest.js')];

/** Runs Jest with its usual output. A run without a report, or without specs, counts as one failed suite. */
export const runJest = async (commands: Commands, { tier, patterns, env }: JestOptions): Promise<JestFigures> => {
  const dir = tempDir('jest');
  const report = join(dir, 'report.json');
  try {
    const args = [...JEST, '--runInBand', '--json', `--outputFile=${report}`, ...patterns];
    const code = await commands.run(process.execPath, args, { ...process.env, ...env, TIER: tier });
    const figures = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as JestFigures) : BROKEN;
    return code !== 0 && figures.numFailedTests + figures.numRuntimeErrorTestSuites === 0 ? BROKEN : figures;
  } finally {
    removeDir(dir);
  }
};

/** Number of spec files that a run would have. */
export const specsOf = ({ tier, patterns }: Pick<JestOptions, 'tier' | 'patterns'>): number => {
  const env = { ...process.env, TIER: tier };
  const { stdout } = spawnSync(process.execPath, [...JEST, '--listTests', ...patterns], { encoding: 'utf8', env });
  return stdout.split('\n').filter((line) => line.endsWith('.ts')).length;
};

const BROKEN: JestFigures = {
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numPassedTestSuites: 0,
  numFailedTestSuites: 1,
  numRuntimeErrorTestSuites: 1,
};
