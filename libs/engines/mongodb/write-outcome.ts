import {
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

/** Codes of servers that step down, shut down or stop waiting. The request may have been carried out. */
const INTERRUPTED = new Set([50, 64, 89, 91, 100, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/** Thrown instead of sending a document that no server accepts. */
export class TooLarge extends Error {}

/** Codes with which a server refuses a document or a command above its limit. */
const TOO_LARGE = new Set([10_334, 17_419, 17_420]);
const BAD_VALUE = 2;
const ABOUT_SIZE = /larger than|too large|exceeds|BSONObj size/i;

/** True when the server or the driver refused a request for its size. A repeat can never succeed. */
export const isTooLarge = (error: unknown): boolean => {
  if (error instanceof MongoServerError) {
    const code = Number(error.code);
    return TOO_LARGE.has(code) || (code === BAD_VALUE && ABOUT_SIZE.test(error.message));
  }
  // The driver's encoder has a buffer of a fixed size.
  if (error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE') return true;
  if (error instanceof TooLarge) return true;
  return error instanceof MongoInvalidArgumentError && ABOUT_SIZE.test(error.message);
};

/** A bulk write wraps the error that ended it, with the fields of a lost connection or of the search for a primary. */
const isLostBulk = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError && ('beforeHandshake' in error || 'reason' in error);

/** True: the caller must find out whether the write happened. False: it was refused and nothing is written. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof MongoNetworkError ||
  error instanceof MongoServerSelectionError ||
  error instanceof MongoOperationTimeoutError ||
  error instanceof MongoWriteConcernError ||
  isLostBulk(error) ||
  (error instanceof MongoServerError &&
    (error.hasErrorLabel('RetryableWriteError') || INTERRUPTED.has(Number(error.code))));
