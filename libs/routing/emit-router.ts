import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Examination } from './event-filter.js';
import { type Emit, type RoomOf, routeEmit, type Routed } from './route-emit.js';
import { type SubscriptionTable } from './subscription-table.js';

/** Backlog of the sources and workflows, as far as this process knows it. */
export interface ListenerBacklog {
  /** Invocations that wait for the listener. */
  waitingFor(listenerId: string): number;
  /** Number of waiting invocations above which the router holds emits for the listener. */
  readonly limit: number;
  /** Number of unrouted emits of one source above which its loop counts as growing without bound. */
  readonly loopLimit: number;
}

export interface EmitRouterOptions {
  readonly topics: TopicPolicy;
  readonly table: SubscriptionTable;
  /**
   * Whether a listener's topic is at its limit. Emits for it then wait, in order, in the lane of their emitter only.
   */
  readonly isFull?: (topic: string) => boolean;
  /** Default: every listener has room. */
  readonly listeners?: ListenerBacklog;
}

/** Routes single emits by the subscription table while their listeners have room. */
export class EmitRouter {
  /** `unrouted`: number of emits in a source's own lane that are not routed. */
  constructor(
    private readonly options: EmitRouterOptions,
    private readonly unrouted: (sourceId: string) => number,
  ) {}

  /** Throws for an emit that cannot be routed. A repeat throws again. */
  route(emit: Emit, now: number, examination: Examination): Routed {
    const { table, topics, isFull = () => false } = this.options;
    const routed = routeEmit(emit, table, topics, now, this.roomOf(emit), examination);
    const full = routed.records.find(({ topic }) => isFull(topic));
    return full ? { ...routed, records: [], heldFor: full.key } : routed;
  }

  private roomOf({ headers }: Emit): RoomOf | undefined {
    const { listeners, table, topics } = this.options;
    const { emitter, workspace } = headers;
    // Holding a shared lane would delay the other emitters on it.
    if (!listeners || !hasOwnLane(topics, emitter)) return undefined;
    return roomFor(listeners, table, { id: emitter, workspaceId: workspace, unrouted: () => this.unrouted(emitter) });
  }
}

export const hasOwnLane = (topics: TopicPolicy, sourceId: string): boolean => topics.ownedBy(sourceId).length > 0;

/**
 * Holds all emits of a source that emits faster than one of its listeners works, and delays no other source. The
 * emitter's own backlog then grows until ingress refuses its events. Sources in a loop could wait for each other
 * indefinitely, so an emit without room is dropped once its emitter's backlog exceeds `loopLimit`.
 */
const roomFor =
  (
    listeners: ListenerBacklog,
    table: Pick<SubscriptionTable, 'leadsTo'>,
    emitter: { readonly id: string; readonly workspaceId: string; readonly unrouted: () => number },
  ): RoomOf =>
  (listenerId) => {
    if (listeners.waitingFor(listenerId) < listeners.limit) return 'room';
    if (emitter.unrouted() < listeners.loopLimit || !table.leadsTo(listenerId, emitter.id, emitter.workspaceId))
      return 'wait';
    return 'give up';
  };

export interface RouterMetrics {
  /** Emits looked up in the subscription table. */
  emits: number;
  invocations: number;
  deliveries: number;
  /** Emits at MAX_HOPS, which were not passed on. */
  hopLimited: number;
  /** Records dropped because their topic no longer exists: the listener was deleted. */
  dropped: number;
  /** Invocations dropped because their loop grew without bound. */
  loopsGivenUp: number;
  /** Times that an emitter was held for a listener with a backlog. */
  held: number;
  /** Records skipped because they cannot be routed. */
  poisoned: number;
}

export const noRouterMetrics = (): RouterMetrics => ({
  emits: 0,
  invocations: 0,
  deliveries: 0,
  hopLimited: 0,
  dropped: 0,
  loopsGivenUp: 0,
  held: 0,
  poisoned: 0,
});

export const countRouted = (metrics: RouterMetrics, { headers }: LogRecord): void => {
  if ('webhook' in headers) metrics.deliveries++;
  else if ('source' in headers) metrics.invocations++;
};
