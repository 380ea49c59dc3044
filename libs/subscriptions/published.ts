/** Events of subscriptions, for other contexts and the roles. The stream id is derived from workspace and triple. */
export interface SubscriptionCreated {
  readonly type: 'SubscriptionCreated';
  readonly data: {
    readonly subscriptionId: string;
    readonly userId: string;
    /** `dc_…`, `p_…`, `dc_*`, `p_*`, `o_…` or `u_…`. */
    readonly emitterId: string;
    readonly listenerId: string;
    /** Name of the channel; empty for the default one. */
    readonly eventName: string;
    /** Absent: every event is passed on. */
    readonly filter?: EventFilter;
    /** Set when the workflow that listens owns the subscription. */
    readonly trigger?: SubscribedTrigger;
    readonly createdAt: number;
  };
}
/** Trigger of a workflow's definition. */
export interface SubscribedTrigger {
  readonly type: 'event' | 'source';
  readonly name: string;
}
export interface SubscriptionFilterChanged {
  readonly type: 'SubscriptionFilterChanged';
  /** Null: every event is passed on. */
  readonly data: { readonly filter: EventFilter | null; readonly changedAt: number };
}
export interface SubscriptionDeleted {
  readonly type: 'SubscriptionDeleted';
  readonly data: {
    /** `trigger_changed`: the definition of the workflow has no such trigger any more, or one of another emitter. */
    readonly reason: 'requested' | 'emitter_deleted' | 'listener_deleted' | 'trigger_changed';
    readonly deletedAt: number;
  };
}
/** A replay passes kept events of one emitter on again (docs/reference/rest-api.md#subscription-replay). */
export interface SubscriptionReplayStarted {
  readonly type: 'SubscriptionReplayStarted';
  readonly data: {
    readonly replayId: string;
    /** `dc_…` or `p_…`, also where the subscription is for many emitters. */
    readonly emitterId: string;
    readonly listenerId: string;
    readonly eventName: string;
    /** Filter and trigger of the subscription at the start; absent for none. */
    readonly filter?: EventFilter;
    readonly trigger?: SubscribedTrigger;
    /** Event ids, both included. */
    readonly startId: string;
    readonly endId: string;
    /** Events a second. */
    readonly rate: number;
    readonly startedAt: number;
    /** Epoch milliseconds at which the last event is due. */
    readonly endsAt: number;
  };
}
export interface SubscriptionReplayCancelled {
  readonly type: 'SubscriptionReplayCancelled';
  readonly data: { readonly replayId: string; readonly cancelledAt: number };
}
export type SubscriptionEvent =
  | SubscriptionCreated
  | SubscriptionFilterChanged
  | SubscriptionReplayStarted
  | SubscriptionReplayCancelled
  | SubscriptionDeleted;

/**
 * Tests by path into the event, all of which must pass; `$any`, `$all` and `$not` contain further filters
 * (docs/reference/rest-api.md#subscription-filter).
 */
export type EventFilter = Readonly<Record<string, unknown>>;
export type FilterScalar = string | number | boolean | null;
/** Tests of one value by name. */
export type FilterTest = Readonly<Record<string, unknown>>;

/** The stream id is derived from workspace, channel and listener. */
export interface AutoSubscriptionCreated {
  readonly type: 'AutoSubscriptionCreated';
  readonly data: {
    readonly autoSubscriptionId: string;
    readonly userId: string;
    readonly listenerId: string;
    readonly eventName: AutoSubscribed;
    readonly createdAt: number;
  };
}
export interface AutoSubscriptionDeleted {
  readonly type: 'AutoSubscriptionDeleted';
  readonly data: { readonly reason: 'requested' | 'listener_deleted'; readonly deletedAt: number };
}
export type AutoSubscriptionEvent = AutoSubscriptionCreated | AutoSubscriptionDeleted;

/** Channels that an auto-subscription may be for. */
export type AutoSubscribed = '$errors' | '$logs';
