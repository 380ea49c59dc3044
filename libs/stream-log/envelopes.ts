import { type LogRecord } from './stream-log.js';

/** Headers of records, by kind of topic. Values are text: numbers in decimal, absent fields left out. */

/**
 * `hook` runs a hook with the definition in `value`. `settled` ends the operation whose hooks ran: the event log's
 * definition is in force again once the log has been followed up to the position in `value`. `delayed` sends out an
 * event that has waited, or a test event of an endpoint, and runs no code.
 */
export type InvocationKind = 'http' | 'timer' | 'apphook' | 'emit' | 'manual' | 'hook' | 'settled' | 'delayed';

/** Headers on `invocations.*`. The value is the JSON of the event that `run` receives, or stands for it (`body`). */
export interface InvocationHeaders extends Record<string, string> {
  /** `inv_…`, equal on a repeat (router restart, timer tick). */
  id: string;
  kind: InvocationKind;
  source: string;
  workspace: string;
  /**
   * Epoch milliseconds, equal on a repeat, because the emit ids of the run are made of it: the arrival, the scheduled
   * time of a tick, the time in the emit id of an emit.
   */
  at: string;
  /** Number of listeners that the cause has passed. The router stops at MAX_HOPS. */
  hops: string;
  /** Interface prop that fired, for `http`, `timer` and `apphook`. */
  prop: string;
  /** Address of the ResponseRelay that awaits the outcome; empty when none does. */
  respond: string;
}

/**
 * Headers on `emits.*`. The value is the payload JSON. A `delete` record removes a channel's events [start, end]. A
 * `delay` record brings an event that waits, and a `due` record says that one has waited long enough. No listener gets
 * either.
 */
export interface EmitHeaders extends Record<string, string> {
  kind: 'emit' | 'delete' | 'delay' | 'due';
  /** Event id `<epoch ms>-<seq>`, strictly increasing per emitter. */
  id: string;
  emitter: string;
  workspace: string;
  /** Empty for the default channel. */
  channel: string;
  /** Emit id: 27 characters, sortable, derived from the invocation. A repeat of the run gives the same. */
  emit: string;
  hops: string;
}
/**
 * Optional headers of an emit are `dedupe` (JSON of the id given to $emit), `summary`, `ts`, and `test` = '1' for a
 * sample event, `subject` for the resource that an event of the platform is about, `fault` for what
 * names an error, `nostore` = '1' for an event that no list keeps, and `notrigger` = '1' for one that no listener gets.
 * An invocation of an emit carries `emitter` and `emit`, and `subscription` and `event` (the event id) when the emit is in
 * the order of its emitter's event ids, which no event of the platform and no replay is.
 * An invocation of a request carries `body`, where the value holds the body, if it holds it once
 * (component-model/http-event.ts), and `confined` = '1' when its reply must not reach beyond its endpoint
 * (component-model/endpoint-reply.ts).
 * An invocation carries `nostore` for what its run leaves. An invocation and a delivery of a replay carry `replay`, its
 * id. Those of a delete are `start` and `end` (event ids, inclusive), and `every` = '1'. The latter selects all channels but the platform's,
 * regardless of `channel`. A delay also has `out`, the channel on which it goes out, and `deliver`, epoch milliseconds.
 * A due record has `event`, the event id of the event.
 */

/** Headers on `deliveries.*`. The value is the exact body to send. */
export interface DeliveryHeaders extends Record<string, string> {
  /** `dlv_…`, derived from emit id and subscription, so a repeat gives the same. */
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

/** Header of an emit whose listeners' records were committed with it: the position of the event log up to which the table was. */
export const ROUTED = 'routed';

export type RecordOf<H extends Record<string, string>> = Omit<LogRecord, 'headers'> & { readonly headers: H };

export const MAX_HOPS = 32;
