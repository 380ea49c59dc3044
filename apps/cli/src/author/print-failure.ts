import { messageOf } from '#libs/kernel/error-message.js';
import { CommandFailure } from './failure.js';
import { jsonLine } from './json.js';
import { Interrupted } from './prompts.js';
import { harmless } from './text.js';

/** Exit after Ctrl-C. */
export const INTERRUPTED = 130;

/** Why a command failed, for standard error: one line of JSON, or lines for people. */
export const failureLines = (failure: CommandFailure, json: boolean): readonly string[] => {
  const { code, status, message, details, lines, after, next } = failure;
  return json
    ? [jsonLine({ error: [message, ...after].join('\n'), code, status, details, next })]
    : [...lines, `sluice: ${message}`, ...after].map(harmless);
};

/** Tells why a command failed on standard error, and sets the exit. */
export const printFailure = (error: unknown, json: boolean): void => {
  if (error instanceof Interrupted) {
    process.exitCode = INTERRUPTED;
    return;
  }
  const failure =
    error instanceof CommandFailure
      ? error
      : new CommandFailure({ exit: 1, code: 'failed', message: messageOf(error) });
  process.exitCode = failure.exit;
  for (const line of failureLines(failure, json)) process.stderr.write(`${line}\n`);
};
