import { type Document } from 'mongodb';

/** Answers of mongod 7 while its replica set elects a primary, by their codes. */
export const REFUSALS = {
  NotWritablePrimary: 10_107,
  PrimarySteppedDown: 189,
  InterruptedAtShutdown: 11_600,
  InterruptedDueToReplStateChange: 11_602,
} as const;
export type Refusal = keyof typeof REFUSALS;

/** Answers of mongod to a request that it does not carry out, or that may not be durable. */
export const refusal = (name: Refusal): Document => ({
  ok: 0,
  errmsg: name === 'NotWritablePrimary' ? 'not primary' : 'operation was interrupted',
  code: REFUSALS[name],
  codeName: name,
  errorLabels: ['RetryableWriteError'],
});

/** Adds to the answer of a write that it is not on a majority, although this server has it. */
export const withoutMajority = (answer: Document): Document => ({
  ...answer,
  writeConcernError: { code: 64, codeName: 'WriteConcernFailed', errmsg: 'waiting for replication timed out' },
});

/** Adds that the primary stepped down while the write waited for a majority. Drivers send such a write again. */
export const steppedDownWaiting = (answer: Document): Document => ({
  ...answer,
  errorLabels: ['RetryableWriteError'],
  writeConcernError: { code: 189, codeName: 'PrimarySteppedDown', errmsg: 'stepped down while waiting' },
});

/** Answer of a member of a replica set about itself. */
export const helloOf = (answer: Document, address: string, isPrimary: boolean): Document => ({
  ...answer,
  ismaster: isPrimary,
  isWritablePrimary: isPrimary,
  secondary: !isPrimary,
  setName: 'rs0',
  setVersion: 1,
  me: address,
  hosts: [address],
  ...(isPrimary ? { primary: address } : {}),
  logicalSessionTimeoutMinutes: 30,
  maxBsonObjectSize: 16 << 20,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
});
