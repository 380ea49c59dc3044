import { type InvocationHeaders, type InvocationKind } from '#libs/stream-log/envelopes.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';

/**
 * Kinds whose invocation may arrive twice under one id: a router or scheduler restarted, or a publisher that got no
 * confirmation published it again.
 */
export const REPEATABLE: ReadonlySet<string> = new Set<InvocationKind>(['emit', 'timer', 'hook', 'delayed']);

/** An invocation in flight in this process. */
export interface Invocation {
  readonly record: StoredRecord;
  /** Offset after the last record of its lane, where that is known. */
  readonly end?: number | undefined;
  readonly headers: InvocationHeaders;
  readonly ack: () => void;
  /** True once this process no longer owns the invocation's lane. */
  readonly revoked: () => boolean;
}

/** Epoch milliseconds, equal on a repeat. The time of the record is not: a repeat is another record. */
export const timeOf = ({ headers, record }: Pick<Invocation, 'headers' | 'record'>): number =>
  Number(headers.at) || record.timestamp;

/** Receives the invocations left for another process, or for a new runner in this one, in lane order. */
export type OnConflict = (unfinished: readonly Invocation[]) => void;
