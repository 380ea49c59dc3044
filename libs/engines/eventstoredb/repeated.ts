import { setTimeout as pause } from 'node:timers/promises';
import { ErrorType, isCommandError } from '@eventstore/db-client';
import { UnreadableEvent } from './recorded-event.js';
import { Late } from './within.js';

/** Answers that a repeat would not change, or make worse: a server that is too slow is not helped by more to do. */
const FINAL: ReadonlySet<ErrorType> = new Set([
  ErrorType.DEADLINE_EXCEEDED,
  ErrorType.TIMEOUT,
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.ACCESS_DENIED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
  ErrorType.STREAM_DELETED,
  ErrorType.STREAM_NOT_FOUND,
]);

/** Waits between attempts: a server that changed its leader or dropped the connection is soon there again. */
const PAUSES_MS = [50, 200, 800, 2_000];

/** Whether a repeat may have another outcome. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof UnreadableEvent || error instanceof Late) &&
  !(isCommandError(error) && FINAL.has(error.type));

/** Does `work` again when the connection or the server failed it. Only for what may be repeated. */
export const repeated = async <T>(work: () => Promise<T>): Promise<T> => {
  for (const ms of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await pause(ms);
    }
  }
  return work();
};
