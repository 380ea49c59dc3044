import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { ROOT } from '#test/harness/paths.js';
import { type Commands, Interrupted } from './command.js';
import { RUNNING_SPECS } from './running-specs.js';

/** Results of one spec file in Jest's own report. */
export interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/** The used part of Jest's own report. */
export interface JestFigures {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPassedTestSuites: number;
  readonly numFailedTestSuites: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly FileResult[];
}

export interface JestOptions {
  readonly tier: string;
  /** Patterns of paths, as Jest takes them. */
  readonly patterns: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const JEST = ['--experimental-vm-modules', '--no-warnings', join(ROOT, 'node_modules/jest/bin/jest.js')];
const REPORTERS = ['--reporters=default', `--reporters=${join(ROOT, 'dist/test/engines/running-specs.js')}`];

/**
 * Runs Jest with its usual output. A run without a report, or without specs, counts as one failed suite. One that is
 * interrupted says which specs had not ended.
 */
export const runJest = async (commands: Commands, { tier, patterns, env }: JestOptions): Promise<JestFigures> => {
  const dir = tempDir('jest');
  const report = join(dir, 'report.json');
  const running = join(dir, 'running');
  try {
    const args = [...JEST, ...REPORTERS, '--runInBand', '--json', `--outputFile=${report}`, ...patterns];
    const code = await commands.run(process.execPath, args, {
      ...process.env,
      ...env,
      TIER: tier,
      [RUNNING_SPECS]: running,
    });
    const figures = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as JestFigures) : broken(patterns);
    return code !== 0 && figures.numFailedTests + figures.numRuntimeErrorTestSuites === 0 ? broken(patterns) : figures;
  } catch (error) {
    if (error instanceof Interrupted) process.stderr.write(`\n${hung(running, patterns)}\n`);
    throw error;
  } finally {
    removeDir(dir);
  }
};

const hung = (file: string, patterns: readonly string[]): string => {
  const running = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return running === ''
    ? `FAILED: Jest did not end, while none of its specs ran: ${patterns.join(' ')}`
    : running.replaceAll(/^.+$/gm, (path) => `FAILED: it did not end: ${relative(ROOT, path)}`);
};

/** Number of spec files that a run would have. */
export const specsOf = ({ tier, patterns }: Pick<JestOptions, 'tier' | 'patterns'>): number => {
  const env = { ...process.env, TIER: tier };
  const { stdout } = spawnSync(process.execPath, [...JEST, '--listTests', ...patterns], { encoding: 'utf8', env });
  return stdout.split('\n').filter((line) => line.endsWith('.ts')).length;
};

const broken = (patterns: readonly string[]): JestFigures => ({
  numPassedTests: 0,
  numFailedTests: 0,
  numPassedTestSuites: 0,
  numFailedTestSuites: 1,
  numRuntimeErrorTestSuites: 1,
  testResults: [{ name: patterns.join(' '), status: 'failed', assertionResults: [] }],
});
