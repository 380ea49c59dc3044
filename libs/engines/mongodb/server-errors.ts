import { MongoServerError } from 'mongodb';

const DUPLICATE_KEY = 11_000;

/** A document of this `_id` is there already; of a guarded upsert: it does not pass the guard. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY;
