import { type LogLine, type UserError, WARNING } from '#libs/component-model/run-output.js';

/** UTF-8 bytes of everything that a run stores, and of the messages that its last step sends. */
export const RUN_BYTES = 6 * 1024 * 1024;
const LOG_LINES = 1_000;
const LOG_BYTES = 256 * 1024;
const ERROR_BYTES = 64 * 1024;
/** Longest stretch in milliseconds, however often a step asks for more time. */
export const STRETCH_MS = 3_600_000;
const LONGEST_RETRY_SECONDS = 86_400;
/** How often an execution starts again because another run ended its process. */
export const INTERRUPTIONS = 3;

/** Errors that the platform gives to a run. The first four end what caused them, so no retry can help. */
export const LIMIT_ERRORS = {
  payload: 'FunctionPayloadLimitExceeded',
  nesting: 'JSONNestedPropertyLimitExceeded',
  waiting: 'WaitingLimitExceeded',
  items: 'ForEachLimitExceeded',
  queue: 'EventQueueFull',
  process: 'ProcessExited',
  draft: 'DraftDiscarded',
} as const;

export const limitError = (limit: keyof typeof LIMIT_ERRORS, message: string): UserError => ({
  name: LIMIT_ERRORS[limit],
  message,
  stack: '',
  code: LIMIT_ERRORS[limit],
});

export const draftDiscarded = (): UserError =>
  limitError('draft', 'the draft of this run was replaced, discarded or deployed while the run went on: run it again');

export const processLost = (times: number): UserError =>
  limitError('process', `other runs of this workflow ended the process of this step ${times} times while it ran`);

/** Shortens an error whose JSON is larger. A hostile process may send one of any size. */
export const boundedError = (error: UserError, bytes = ERROR_BYTES): UserError => {
  if (Buffer.byteLength(JSON.stringify(error)) <= bytes) return error;
  // In JSON a character has up to six bytes.
  const characters = Math.floor(bytes / 16);
  return {
    name: error.name.slice(0, 100),
    message: error.message.slice(0, characters),
    stack: error.stack.slice(0, characters),
    code: error.code.slice(0, 100),
  };
};

/** Returns the lines within the limits of a step's log. Where lines are dropped, a last one says so. */
export const boundedLog = (lines: readonly LogLine[]): readonly LogLine[] => {
  let bytes = 0;
  let count = 0;
  for (const { k, msg } of lines) {
    bytes += Buffer.byteLength(k) + Buffer.byteLength(msg);
    if (bytes > LOG_BYTES || count === LOG_LINES) break;
    count++;
  }
  const first = lines[count];
  if (first === undefined) return lines;
  // The line that says so counts as one of the 1,000.
  const kept = lines.slice(0, Math.min(count, LOG_LINES - 1));
  const msg = `${lines.length - kept.length} lines were dropped: the log of a step holds ${LOG_LINES} lines and ${LOG_BYTES} bytes`;
  return [...kept, { k: WARNING, ts: first.ts, msg }];
};

/** Deadline of a stretch after a step asked for more time. It never moves back. */
export const refreshedDeadline = (
  stretch: { readonly startedAt: number; readonly deadline: number },
  refreshedAt: number | undefined,
  timeoutSeconds: number,
): number =>
  refreshedAt === undefined
    ? stretch.deadline
    : Math.max(stretch.deadline, Math.min(refreshedAt + timeoutSeconds * 1_000, stretch.startedAt + STRETCH_MS));

/** Pause before a retry in milliseconds. `retry` is 1 for the first. */
export const retryPauseMs = (
  { delaySeconds, backoff }: { readonly delaySeconds: number; readonly backoff: 'exponential' | 'fixed' },
  retry: number,
): number =>
  Math.min(backoff === 'fixed' ? delaySeconds : delaySeconds * 2 ** (retry - 1), LONGEST_RETRY_SECONDS) * 1_000;
