import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './paths.js';

export interface Told {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Variables of the tests, without settings of Sluice, which would warn about unknown ones. */
const ofTests = (name: string): boolean => name.startsWith('SLUICE_TEST_');

/** Runs Node with arguments, and resolves also when the program fails. */
export const runNode = async (args: readonly string[], variables: NodeJS.ProcessEnv, cwd: string): Promise<Told> => {
  const env = Object.fromEntries(Object.entries(variables).filter(([name]) => !ofTests(name)));
  try {
    const told = await promisify(execFile)(process.execPath, [...args], { env, cwd });
    return { status: 0, ...told };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
};

/** The program of the command line, as it was built. */
export const CLI = join(ROOT, 'dist/apps/cli/src/main.js');
