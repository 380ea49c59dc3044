import {
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

/** Codes of servers that step down, shut down or give up waiting: what they were asked may yet be done. */
const INTERRUPTED = new Set([50, 64, 89, 91, 100, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/** True: whether the write was done is not known, and has to be found out. False: it was refused, nothing is written. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof MongoNetworkError ||
  error instanceof MongoServerSelectionError ||
  error instanceof MongoOperationTimeoutError ||
  error instanceof MongoWriteConcernError ||
  (error instanceof MongoServerError &&
    (error.hasErrorLabel('RetryableWriteError') || INTERRUPTED.has(Number(error.code))));
