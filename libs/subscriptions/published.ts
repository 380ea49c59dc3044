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
    readonly createdAt: number;
  };
}
export interface SubscriptionDeleted {
  readonly type: 'SubscriptionDeleted';
  readonly data: { readonly reason: 'requested' | 'emitter_deleted' | 'listener_deleted'; readonly deletedAt: number };
}
export type SubscriptionEvent = SubscriptionCreated | SubscriptionDeleted;

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
