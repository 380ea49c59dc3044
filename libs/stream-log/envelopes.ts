import { type LogRecord } from './stream-log.js';

/** What a record's headers hold, by kind of topic. Values are text: numbers in decimal, absent fields left out. */

/**
 * `hook`: run a hook with the definition that `value` holds. `settled`: the operation whose hooks ran has ended, the
 * event log's definition is in force again once the log has been followed up to the position in `value`.
 */
export type InvocationKind = 'http' | 'timer' | 'emit' | 'manual' | 'hook' | 'settled';

/** On `invocations.*`; value = the JSON of the event that `run` receives. */
export interface InvocationHeaders extends Record<string, string> {
  /** `inv_…`; the same again on a repeat (router restart, timer tick). */
  id: string;
  kind: InvocationKind;
  source: string;
  workspace: string;
  /** Epoch milliseconds of the arrival. */
  at: string;
  /** How many listeners the cause has passed; the router stops at MAX_HOPS. */
  hops: string;
  /** http and timer: the interface prop that fired. */
  prop: string;
  /** Where the outcome is awaited (the address of a ResponseRelay); empty when nobody waits. */
  respond: string;
}

/** On `emits.*`; value = payload JSON. A `delete` record removes events [start, end] of a channel from the history. */
export interface EmitHeaders extends Record<string, string> {
  kind: 'emit' | 'delete';
  /** Event id `<epoch ms>-<seq>`, strictly increasing per emitter. */
  id: string;
  emitter: string;
  workspace: string;
  /** Channel; empty for the default one. */
  channel: string;
  /** 27 characters, sortable, derived from the invocation: a repeat of the run gives the same. */
  emit: string;
  hops: string;
}
/**
 * Optional headers of an emit: `dedupe` (JSON of the id given to $emit), `summary`, `ts`; of a delete: `start`, `end`
 * (event ids, inclusive), and `every` = '1' for all channels but the platform's own, whatever `channel` says.
 */

/** On `deliveries.*`; value = the exact body to send. */
export interface DeliveryHeaders extends Record<string, string> {
  /** `dlv_…`, derived from emit id and subscription: a repeat gives the same. */
  id: string;
  webhook: string;
  workspace: string;
  emitter: string;
  channel: string;
  emit: string;
  /** Event id of the emit. */
  event: string;
  /** 1 for the first attempt. */
  attempt: string;
  /** Epoch milliseconds of the emit's arrival at the router. */
  at: string;
}

export type RecordOf<H extends Record<string, string>> = Omit<LogRecord, 'headers'> & { readonly headers: H };

export const MAX_HOPS = 32;

/** Channels that the platform writes itself (rest-api.md, "Events"). */
