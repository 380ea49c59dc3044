import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type ListenerBacklog, roomFor } from './listener-room.js';
import { type Examination } from './event-filter.js';
import { type Emit, type RoomOf, routeEmit, type Routed } from './route-emit.js';
import { type SubscriptionTable } from './subscription-table.js';

export interface EmitRouterOptions {
  readonly topics: TopicPolicy;
  readonly table: SubscriptionTable;
  /** Whether a listener's topic takes no more for now. Emits for it wait, in order, in their own lane only. */
  readonly isFull?: (topic: string) => boolean;
  /** Default: every listener has room. */
  readonly listeners?: ListenerBacklog;
}

/** Routes single emits by the subscription table, as far as their listeners have room. */
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
    // A shared lane is not held, because that would hold other emitters too.
    if (!listeners || !hasOwnLane(topics, emitter)) return undefined;
    return roomFor(listeners, table, { id: emitter, workspaceId: workspace, unrouted: () => this.unrouted(emitter) });
  }
}

export const hasOwnLane = (topics: TopicPolicy, sourceId: string): boolean => topics.ownedBy(sourceId).length > 0;
