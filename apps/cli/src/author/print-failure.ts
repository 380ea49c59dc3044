import { messageOf } from '#libs/kernel/error-message.js';
import { CommandFailure } from '../workflows/failure.js';
import { jsonLine } from './json.js';
import { Interrupted } from './prompts.js';
import { harmless } from './text.js';

/** Exit after Ctrl-C. */
export const INTERRUPTED = 130;

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
  const { exit, code, status, message, details, lines, after, next } = failure;
  process.exitCode = exit;
  const told = json
    ? [jsonLine({ error: [message, ...after].join('\n'), code, status, details, next })]
    : [...lines, `sluice: ${message}`, ...after].map(harmless);
  for (const line of told) process.stderr.write(`${line}\n`);
};
