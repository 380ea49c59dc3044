import { type LogRecord } from './stream-log.js';

/**
 * Headers of records, one type for each kind of record. Values are text: numbers in decimal, flags '1', absent fields left
 * out. They are types and no interfaces, so that they are headers of a LogRecord without a cast. A record's headers never
 * change once it is made.
 */

/**
 * `hook` runs a hook with the definition in `value`. `settled` ends the operation whose hooks ran: the event log's
 * definition is in force again once the log has been followed up to the position in `value`. `delayed` sends out an
 * event that has waited, or a test event of an endpoint, and runs no code.
 */
export type InvocationKind = 'http' | 'timer' | 'apphook' | 'emit' | 'manual' | 'hook' | 'settled' | 'delayed';

/** What an emit says about its event besides the payload. It stays with an event that waits. */
export type EventParts = {
  /** JSON of the id given to $emit. */
  readonly dedupe?: string;
  readonly summary?: string;
  readonly ts?: string;
  /** A sample event, or a test event of an endpoint. */
  readonly test?: '1';
  /** No list keeps it. */
  readonly nostore?: '1';
};

/** The parts that are there, and nothing else. */
export const eventParts = ({ dedupe, summary, ts, test, nostore }: EventParts): EventParts => ({
  ...(dedupe === undefined ? {} : { dedupe }),
  ...(summary === undefined ? {} : { summary }),
  ...(ts === undefined ? {} : { ts }),
  ...(test === undefined ? {} : { test }),
  ...(nostore === undefined ? {} : { nostore }),
});

/** Headers on `invocations.*`. The value is the JSON of the event that `run` receives, or stands for it (`body`). */
export type InvocationHeaders = EventParts & {
  /** `inv_…`, equal on a repeat (router restart, timer tick). */
  readonly id: string;
  readonly kind: InvocationKind;
  readonly source: string;
  readonly workspace: string;
  /**
   * Epoch milliseconds, equal on a repeat, because the emit ids of the run are made of it: the arrival, the scheduled
   * time of a tick, the time in the emit id of an emit.
   */
  readonly at: string;
  /** Number of listeners that the cause has passed. The router stops at MAX_HOPS. */
  readonly hops: string;
  /** Interface prop that fired, for `http`, `timer` and `apphook`. */
  readonly prop: string;
  /** Address of the ResponseRelay that awaits the outcome; empty when none does. */
  readonly respond: string;
  /** Where the value of a request holds the body, if it holds it once (component-model/http-event.ts). */
  readonly body?: string;
  /** The reply to a request must not reach beyond its endpoint (component-model/endpoint-reply.ts). */
  readonly confined?: '1';
  /** An emit has its emitter and emit id here, a `delayed` one its emit id and channel. */
  readonly emitter?: string;
  readonly emit?: string;
  readonly channel?: string;
  /** Set for an emit in the order of its emitter's event ids. No event of the platform and no replay has that order. */
  readonly subscription?: string;
  readonly event?: string;
  /** Id of the replay that it belongs to. */
  readonly replay?: string;
  /** What is left is for no listener. */
  readonly notrigger?: '1';
};

type OnEmits = {
  /** Event id `<epoch ms>-<seq>`, strictly increasing per emitter. */
  readonly id: string;
  readonly emitter: string;
  readonly workspace: string;
  /** Empty for the default channel. */
  readonly channel: string;
  /** Emit id: 27 characters, sortable, derived from the invocation. A repeat of the run gives the same. */
  readonly emit: string;
  readonly hops: string;
};

/** An event. The value is the payload JSON. */
export type EmitHeaders = OnEmits &
  EventParts & {
    readonly kind: 'emit';
    /** No listener gets it. */
    readonly notrigger?: '1';
    /** Resource that an event of the platform is about. */
    readonly subject?: string;
    /** Names an error. */
    readonly fault?: string;
    /**
     * The records of its listeners were committed with it, by the table of this position of the event log
     * (docs/adr/0049).
     */
    readonly routed?: string;
  };

/** An event that waits. No listener gets the record. The value is the payload JSON. */
export type DelayHeaders = OnEmits &
  EventParts & {
    readonly kind: 'delay';
    readonly notrigger?: '1';
    /** Channel on which it goes out. */
    readonly out: string;
    /** Epoch milliseconds. */
    readonly deliver: string;
  };

/** Says that an event has waited long enough. */
export type DueHeaders = OnEmits & {
  readonly kind: 'due';
  /** Event id of the event. */
  readonly event: string;
};

/** Removes events of a channel. */
export type DeleteHeaders = OnEmits & {
  readonly kind: 'delete';
  /** Event ids, inclusive. */
  readonly start?: string;
  readonly end?: string;
  /** All channels but the platform's, regardless of `channel`. */
  readonly every?: '1';
};

/** Headers on `emits.*`. */
export type EmitterHeaders = EmitHeaders | DelayHeaders | DueHeaders | DeleteHeaders;

/** Headers on `deliveries.*`. The value is the exact body to send. */
export type DeliveryHeaders = {
  /** `dlv_…`, derived from emit id and subscription, so a repeat gives the same. */
  readonly id: string;
  readonly webhook: string;
  readonly workspace: string;
  readonly emitter: string;
  readonly channel: string;
  readonly emit: string;
  /** Event id of the emit. */
  readonly event: string;
  /** 1 for the first attempt. */
  readonly attempt: string;
  /** Epoch milliseconds of the emit's arrival at the router. */
  readonly at: string;
  /** Id of the replay that it belongs to. */
  readonly replay?: string;
  /** How often the attempt was put off. */
  readonly defers?: string;
  /** Entry of the due store that it came from, and how often it was published before. */
  readonly entry?: string;
  readonly again?: string;
};

/** Headers on `emails`: an error of a source. The value is the event. */
export type EmailHeaders = {
  readonly email: '1';
  readonly emitter: string;
  readonly workspace: string;
  readonly emit: string;
  /** Event id of the emit. */
  readonly event: string;
  readonly fault: string;
  /** How often it was tried. */
  readonly attempt?: string;
};

export type RecordOf<H extends LogRecord['headers']> = Omit<LogRecord, 'headers'> & { readonly headers: H };

type Stored = Pick<LogRecord, 'headers'>;

/** The headers of a record of `invocations.*`. */
export const invocationHeaders = ({ headers }: Stored): InvocationHeaders => headers as InvocationHeaders;
/** The headers of a record of `emits.*`. */
export const emitterHeaders = ({ headers }: Stored): EmitterHeaders => headers as EmitterHeaders;
/** The headers of a record of `deliveries.*` that is a delivery. */
export const deliveryHeaders = ({ headers }: Stored): DeliveryHeaders => headers as DeliveryHeaders;
/** The headers of a record of `emails`. */
export const emailHeaders = ({ headers }: Stored): EmailHeaders => headers as EmailHeaders;

export const MAX_HOPS = 32;
