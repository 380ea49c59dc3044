import { ErrorType, isCommandError } from '@eventstore/db-client';
import { Backoff } from '#libs/async/backoff.js';
import { DeadlineExceeded } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { UnreadableEvent } from './recorded-event.js';

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

/** The pauses last about three seconds in all. A server that changed its leader or dropped the connection is soon back. */
const PAUSES = { firstMs: 50, longestMs: 2_000 };
const RETRIES = 6;

/** Whether a retry may have another outcome. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof UnreadableEvent || error instanceof DeadlineExceeded) &&
  !(isCommandError(error) && FINAL.has(error.type));

/** Retries `work` when the connection or the server failed it. Only for work that may be repeated. */
export const repeated = async <T>(work: () => Promise<T>): Promise<T> => {
  const backoff = new Backoff(PAUSES);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || backoff.count === RETRIES) throw error;
      await pause(backoff.next());
    }
  }
};
