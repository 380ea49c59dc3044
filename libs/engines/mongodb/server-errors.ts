import { MongoServerError } from 'mongodb';

const DUPLICATE_KEY = 11_000;

/** A document with this `_id` exists. For a guarded upsert, that document does not pass the guard. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY;
