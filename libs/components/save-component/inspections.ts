import { BoundedTurns } from '#libs/async/bounded-turns.js';
import { type ComponentInspector, type InspectionLimits } from '../ports.js';
import { fullQueue } from './full-queue.js';

type Inspected = Awaited<ReturnType<ComponentInspector['inspect']>>;

export interface InspectionRequest {
  readonly workspaceId: string;
  readonly userId: string;
  /** Concurrent inspections of one component share one result. */
  readonly componentId: string;
  /** Size of the code, which stays in memory while the inspection waits. */
  readonly bytes: number;
}

const MB = 1024 * 1024;
/** Limits of waiting code, per workspace and user, and in total. */
const WAITING_BYTES = 32 * MB;
const WAITING_BYTES_IN_ALL = 128 * MB;

/**
 * Limits concurrent inspections, because each takes two processes. They take turns, so slow code delays only its own
 * workspace and user. The same code posted many times at once is inspected once.
 */
export class Inspections {
  private readonly inFlight = new Map<string, Promise<Inspected>>();
  private readonly turns: BoundedTurns;

  constructor(limits: InspectionLimits) {
    const bytes = { waitingBytes: WAITING_BYTES, waitingBytesInAll: WAITING_BYTES_IN_ALL };
    const codes = { own: 'component.too_many_builds', inAll: 'component.builds_overloaded' } as const;
    this.turns = new BoundedTurns({ ...limits, ...bytes }, fullQueue('builds', codes));
  }

  /**
   * Joins the running inspection of this component, or calls `inspect` in its turn. Rejects with DomainError
   * component.too_many_builds or component.builds_overloaded when it would have to wait and the queue is full.
   */
  of(request: InspectionRequest, inspect: () => Promise<Inspected>): Promise<Inspected> {
    const { componentId, bytes } = request;
    const known = this.inFlight.get(componentId);
    if (known) return this.turns.waitingFor(request, bytes, () => known);
    const started = this.turns.run(request, bytes, inspect).finally(() => this.inFlight.delete(componentId));
    this.inFlight.set(componentId, started);
    return started;
  }
}
