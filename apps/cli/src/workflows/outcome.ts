import { failureLines } from '../author/print-failure.js';
import { harmlessLines } from '../author/text.js';
import { CommandFailure } from './failure.js';

/** What a command prints and how it ends (docs/reference/workflows.md#files-exits). */
export interface Outcome {
  readonly exit: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

/** Resolves with what the command did. A CommandFailure leaves standard output empty; with `json` it is one line of JSON. */
export const outcomeOf = async (json: boolean, act: () => Promise<Outcome>): Promise<Outcome> => {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { exit: error.exit, out: [], err: failureLines(error, json) };
  }
};

export const finish = ({ exit, out, err }: Outcome): void => {
  for (const line of err) process.stderr.write(`${harmlessLines(line)}\n`);
  for (const line of out) process.stdout.write(`${harmlessLines(line)}\n`);
  process.exitCode = exit;
};
