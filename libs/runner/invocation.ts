import { type InvocationHeaders, type InvocationKind } from '#libs/stream-log/envelopes.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';

/**
 * Kinds whose invocation may arrive twice under one id, because a router or scheduler restarted, because a caller repeated
 * a request, or because a publisher repeated a publication that was not confirmed.
 */
export const REPEATABLE: ReadonlySet<string> = new Set<InvocationKind>([
  'emit',
  'timer',
  'manual',
  'hook',
  'delayed',
  'cancel_runs',
]);

/** An invocation in flight in this process. */
export interface Invocation {
  readonly record: StoredRecord;
  /** Offset after the last record of the lane, where it is known. */
  readonly end?: number | undefined;
  readonly headers: InvocationHeaders;
  readonly ack: () => void;
  /** True once this process no longer owns the invocation's lane. */
  readonly revoked: () => boolean;
}

/** An invocation of which only the event matters, perhaps before the log has it. */
export type Arriving = Pick<Invocation, 'headers'> & {
  readonly record: Pick<StoredRecord, 'value' | 'offset' | 'timestamp'>;
};

/** Epoch milliseconds that are the same on a repeat, which the time of its record is not. */
export const timeOf = ({
  headers,
  record,
}: Pick<Invocation, 'headers'> & { readonly record: Pick<StoredRecord, 'timestamp'> }): number =>
  Number(headers.at) || record.timestamp;

/** Receives the unfinished invocations, for another process or a new runner in this one, in lane order. */
export type OnConflict = (unfinished: readonly Invocation[]) => void;
