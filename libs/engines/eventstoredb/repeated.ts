import { setTimeout as pause } from 'node:timers/promises';
import { ErrorType, isCommandError } from '@eventstore/db-client';
import { UnreadableEvent } from './recorded-event.js';
import { Late } from './within.js';

/** Errors that a retry would not change, or would make worse: a slow server does not need more load. */
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

/** Pauses between attempts. A server that changed its leader or dropped the connection soon returns. */
const PAUSES_MS = [50, 200, 800, 2_000];

/** Whether a retry may have another outcome. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof UnreadableEvent || error instanceof Late) &&
  !(isCommandError(error) && FINAL.has(error.type));

/** Retries `work` when the connection or the server failed it. Only for work that may be repeated. */
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
