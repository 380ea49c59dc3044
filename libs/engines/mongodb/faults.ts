import { MongoError, MongoInvalidArgumentError, MongoParseError, MongoServerError } from 'mongodb';
import { EngineUnavailable, type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { isDuplicateKey } from './server-errors.js';
import { isTooLarge } from './write-outcome.js';

const OUT_OF_DISK_SPACE = 14_031;

/** Recognises failures of the server or the way to it, as opposed to faults of the request. */
export const mongoFault: FaultOf = (error) => {
  if (!(error instanceof MongoError) || isDuplicateKey(error) || isTooLarge(error)) return undefined;
  if (error instanceof MongoInvalidArgumentError || error instanceof MongoParseError) return undefined;
  const full = error instanceof MongoServerError && error.code === OUT_OF_DISK_SPACE;
  return new EngineUnavailable('MongoDB', error.message, { cause: error, full });
};
