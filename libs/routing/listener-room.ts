import { type RoomOf } from './route-emit.js';
import { type SubscriptionTable } from './subscription-table.js';

/** How far sources are behind, as far as this process knows. */
export interface ListenerBacklog {
  /** Invocations that wait for the source. */
  waitingFor(sourceId: string): number;
  /** Above this, who emits to it waits. */
  readonly limit: number;
  /** Emits of one source not yet routed, above which a loop is taken for one that grows without end. */
  readonly loopLimit: number;
}

/**
 * Who emits faster than a listener works has its emits held at the router, all of this emitter and no others: so its
 * own backlog grows, and its own door closes. Sources in a loop could wait for each other indefinitely. Once such an
 * emitter's own backlog is above `loopLimit`, what has no room is given up.
 */
export const roomFor =
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
