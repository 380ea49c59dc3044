import { type LogRecord } from './stream-log.js';

/**
 * Headers of records, one type for each kind of record. Values are text: numbers in decimal, flags as '1', absent
 * fields left out. They are types rather than interfaces, so that they are headers of a LogRecord without a cast. A
 * record's headers never change once it is made.
 */

/**
 * `hook` runs a hook with the definition in `value`. `settled` ends the operation whose hooks ran: the event log's
 * definition applies again once the log has been read up to the position in `value`. `delayed` publishes an event that
 * has waited, or a test event of an endpoint, and runs no code. Only workflows get the last five: the wait of a run is
 * over, a user or a URL resumes or cancels a run, a deactivation cancels all, and `wake` makes the owner of the lane go on
 * with unfinished runs.
 */
export type InvocationKind =
  | 'http'
  | 'timer'
  | 'apphook'
  | 'emit'
  | 'manual'
  | 'hook'
  | 'settled'
  | 'delayed'
  | 'alarm'
  | 'resume'
  | 'cancel'
  | 'cancel_runs'
  | 'wake';

/** The parts of an event besides its payload. A delayed event keeps them while it waits. */
export type EventParts = {
  /** JSON of the id given to $emit. */
  readonly dedupe?: string;
  readonly summary?: string;
  readonly ts?: string;
  /** A sample event, or a test event of an endpoint. */
  readonly test?: '1';
  /** Set for an event that no list keeps. */
  readonly nostore?: '1';
  /** Id of the run or hook of a source that emitted it. */
  readonly invocation?: string;
};

/** Copies the parts that are present. */
export const eventParts = ({ dedupe, summary, ts, test, nostore, invocation }: EventParts): EventParts => ({
  ...(dedupe === undefined ? {} : { dedupe }),
  ...(summary === undefined ? {} : { summary }),
  ...(ts === undefined ? {} : { ts }),
  ...(test === undefined ? {} : { test }),
  ...(nostore === undefined ? {} : { nostore }),
  ...(invocation === undefined ? {} : { invocation }),
});

/** Headers on `invocations.*`. The value is the JSON of the event that `run` receives, or stands for it (`body`). */
export type InvocationHeaders = EventParts & {
  /** `inv_…`, the same on a repeat (router restart, timer tick). */
  readonly id: string;
  readonly kind: InvocationKind;
  readonly source: string;
  readonly workspace: string;
  /**
   * Epoch milliseconds of the arrival, of the tick's scheduled time, or of the emit id. The same on a repeat, because
   * the emit ids of the run derive from it.
   */
  readonly at: string;
  /** Number of listeners that the cause has passed. The router stops at MAX_HOPS. */
  readonly hops: string;
  /** Interface prop that fired, for `http`, `timer` and `apphook`. */
  readonly prop: string;
  /** Address of the ResponseRelay that awaits the outcome; empty when none does. */
  readonly respond: string;
  /** Where the value of a request contains the body, if it contains it once (component-model/http-event.ts). */
  readonly body?: string;
  /** Set when the reply to a request must stay within its endpoint (component-model/endpoint-reply.ts). */
  readonly confined?: '1';
  /** Set with the emit id for an emit. A `delayed` invocation has its emit id and channel instead. */
  readonly emitter?: string;
  readonly emit?: string;
  readonly channel?: string;
  /**
   * Set for an emit that arrives in the order of its emitter's event ids. Platform events and replays lack that order.
   */
  readonly subscription?: string;
  readonly event?: string;
  /** Id of the replay that made this invocation. */
  readonly replay?: string;
  /** Set when no listener gets the events of this invocation, and when a workflow's run must execute nothing. */
  readonly notrigger?: '1';
  /** JSON of the trigger that starts a workflow's run: `{type, id, name}`. */
  readonly trigger?: string;
  /** JSON of what the run of a workflow replays (runner/workflow/replay-record.ts). */
  readonly replays?: string;
  /** Id of the draft that a test runs. */
  readonly draft?: string;
  /** Set when a workflow's run begins only when no other of its trigger goes on. */
  readonly alone?: '1';
  /** Run that began the chain, for a run that another one starts. */
  readonly trace?: string;
  /** Set when the bearer token of the request was checked. */
  readonly verified?: '1';
  /** Run that an alarm, resume or cancel is for. */
  readonly run?: string;
  /** Number of the execution whose wait it ends. Absent: any. */
  readonly execution?: string;
  /** Time of the alarm in epoch milliseconds. */
  readonly due?: string;
  /** JSON of the user and key that resume or cancel. */
  readonly by?: string;
};

type OnEmits = {
  /** Event id `<epoch ms>-<seq>`, strictly increasing per emitter. */
  readonly id: string;
  readonly emitter: string;
  readonly workspace: string;
  /** Empty for the default channel. */
  readonly channel: string;
  /** Emit id: 27 characters, sortable, derived from the invocation. A repeat of the run makes the same. */
  readonly emit: string;
  readonly hops: string;
};

/** An event, whose payload JSON is the value. */
export type EmitHeaders = OnEmits &
  EventParts & {
    readonly kind: 'emit';
    /** Set when no listener gets the event. */
    readonly notrigger?: '1';
    /** Resource that a platform event is about. */
    readonly subject?: string;
    /** Names an error, so that repeats are known. */
    readonly fault?: string;
    /**
     * Position of the event log whose subscriptions chose the listeners, if their records were committed with the emit
     * (docs/adr/0049).
     */
    readonly routed?: string;
  };

/** An event that waits, whose payload JSON is the value. No listener gets the record. */
export type DelayHeaders = OnEmits &
  EventParts & {
    readonly kind: 'delay';
    readonly notrigger?: '1';
    /** Channel on which the event is published. */
    readonly out: string;
    /** Epoch milliseconds. */
    readonly deliver: string;
  };

/** Says that a delayed event is due. */
export type DueHeaders = OnEmits & {
  readonly kind: 'due';
  /** Event id of the delayed event. */
  readonly event: string;
};

/** Removes events of a channel. */
export type DeleteHeaders = OnEmits & {
  readonly kind: 'delete';
  /** Event ids, inclusive. */
  readonly start?: string;
  readonly end?: string;
  /** Set to remove from all channels except those of the platform, whatever `channel` says. */
  readonly every?: '1';
};

/** Tells of the runs of a commit (source-runs.ts). No listener gets the record. */
export type RunsHeaders = {
  readonly kind: 'runs';
  readonly emitter: string;
  readonly workspace: string;
  /** What the source had in each of the last hours, with this commit (hour-counts.ts). */
  readonly counts?: string;
};

/** Headers on `emits.*`. */
export type EmitterHeaders = EmitHeaders | DelayHeaders | DueHeaders | DeleteHeaders | RunsHeaders;

/** Headers on `deliveries.*`. The value is the exact body to send. */
export type DeliveryHeaders = {
  /** `dlv_…`, derived from emit id and subscription, so the same on a repeat. */
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
  /** Id of the replay that made this delivery. */
  readonly replay?: string;
  /** How often the attempt was put off. */
  readonly defers?: string;
  /** Entry of the due store that the record came from, and how often it was published before. */
  readonly entry?: string;
  readonly again?: string;
};

/** Headers on `emails`: an error of a source, whose event is the value. */
export type EmailHeaders = {
  readonly email: '1';
  readonly emitter: string;
  readonly workspace: string;
  readonly emit: string;
  /** Event id of the emit. */
  readonly event: string;
  readonly fault: string;
  /** Number of earlier tries. */
  readonly attempt?: string;
};

export type RecordOf<H extends LogRecord['headers']> = Omit<LogRecord, 'headers'> & { readonly headers: H };

type Stored = Pick<LogRecord, 'headers'>;

export const invocationHeaders = ({ headers }: Stored): InvocationHeaders => headers as InvocationHeaders;
export const emitterHeaders = ({ headers }: Stored): EmitterHeaders => headers as EmitterHeaders;
export const deliveryHeaders = ({ headers }: Stored): DeliveryHeaders => headers as DeliveryHeaders;
export const emailHeaders = ({ headers }: Stored): EmailHeaders => headers as EmailHeaders;

export const MAX_HOPS = 32;
