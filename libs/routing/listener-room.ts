import { type RoomOf } from './route-emit.js';
import { type SubscriptionTable } from './subscription-table.js';

/** Backlog of sources, as far as this process knows. */
export interface ListenerBacklog {
  /** Invocations that wait for the source. */
  waitingFor(sourceId: string): number;
  /** Number of waiting invocations above which the router holds emits for the source. */
  readonly limit: number;
  /** Number of unrouted emits of one source above which its loop counts as growing without bound. */
  readonly loopLimit: number;
}

/**
 * Holds all emits of a source that emits faster than a listener works, and no others. The emitter's own backlog then
 * grows until ingress refuses its events. Sources in a loop could wait for each other indefinitely. Emits without room
 * are therefore given up once such an emitter's own backlog exceeds `loopLimit`.
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
