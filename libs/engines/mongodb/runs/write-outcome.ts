import {
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

/** Codes of servers that step down, shut down or stop waiting. The request may still be carried out. */
const INTERRUPTED = new Set([50, 64, 89, 91, 100, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/** True: the caller must find out whether the write happened. False: it was refused and nothing is written. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof MongoNetworkError ||
  error instanceof MongoServerSelectionError ||
  error instanceof MongoOperationTimeoutError ||
  error instanceof MongoWriteConcernError ||
  (error instanceof MongoServerError &&
    (error.hasErrorLabel('RetryableWriteError') || INTERRUPTED.has(Number(error.code))));
