import { Semaphore } from '#libs/async/semaphore.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ComponentInspector, type InspectionLimits } from '../ports.js';

type Inspected = Awaited<ReturnType<ComponentInspector['inspect']>>;

export interface InspectionRequest {
  readonly workspaceId: string;
  /** Concurrent inspections of one component share one result. */
  readonly componentId: string;
  /** Size of its code, which stays in memory while it waits. */
  readonly bytes: number;
}

interface Waiting {
  readonly count: number;
  readonly bytes: number;
}

const NONE: Waiting = { count: 0, bytes: 0 };
const MB = 1024 * 1024;
/** Limits of waiting code, per workspace and in total. */
const WAITING_BYTES = 32 * MB;
const WAITING_BYTES_IN_ALL = 128 * MB;

/**
 * Limits concurrent inspections, because each takes two processes. Workspaces take turns, and none holds more than half
 * of the slots, so slow code delays only its own workspace. The same code posted many times at once is inspected once.
 * Waiting inspections are bounded per workspace and in total.
 */
export class Inspections {
  private readonly inFlight = new Map<string, Promise<Inspected>>();
  private readonly slots: Semaphore;
  private readonly waiting = new Map<string, Waiting>();
  private waitingInAll = NONE;

  constructor(private readonly limits: InspectionLimits) {
    const perWorkspace = Math.max(1, Math.floor(limits.atOnce / 2));
    this.slots = new Semaphore(limits.atOnce, () => perWorkspace);
  }

  /**
   * Joins the running inspection of this component, or calls `inspect` in its turn. Rejects with DomainError
   * component.too_many_builds or component.builds_overloaded when it would have to wait and the queue is full.
   */
  async of(request: InspectionRequest, inspect: () => Promise<Inspected>): Promise<Inspected> {
    const { workspaceId, componentId } = request;
    const known = this.inFlight.get(componentId);
    if (known) {
      this.admit(request);
      return known.finally(() => this.wait(workspaceId, -1, -request.bytes));
    }
    const mustWait = !this.slots.tryAcquire(workspaceId);
    if (mustWait) this.admit(request);
    const started = this.inTurn(request, mustWait, inspect).finally(() => this.inFlight.delete(componentId));
    this.inFlight.set(componentId, started);
    return started;
  }

  private async inTurn(
    { workspaceId, bytes }: InspectionRequest,
    mustWait: boolean,
    inspect: () => Promise<Inspected>,
  ): Promise<Inspected> {
    if (mustWait) {
      await this.slots.acquire(workspaceId);
      this.wait(workspaceId, -1, -bytes);
    }
    try {
      return await inspect();
    } finally {
      this.slots.release(workspaceId);
    }
  }

  /** Counts a waiting inspection. Throws when the queue is full. */
  private admit({ workspaceId, bytes }: InspectionRequest): void {
    const { waiting, waitingInAll } = this.limits;
    const own = this.waiting.get(workspaceId) ?? NONE;
    if (isFull(own, bytes, waiting, WAITING_BYTES))
      throw full('component.too_many_builds', 'of this workspace', own, waiting, WAITING_BYTES);
    if (isFull(this.waitingInAll, bytes, waitingInAll, WAITING_BYTES_IN_ALL))
      throw full(
        'component.builds_overloaded',
        'on this server',
        this.waitingInAll,
        waitingInAll,
        WAITING_BYTES_IN_ALL,
      );
    this.wait(workspaceId, 1, bytes);
  }

  private wait(workspaceId: string, count: number, bytes: number): void {
    const own = this.waiting.get(workspaceId) ?? NONE;
    const left = { count: own.count + count, bytes: own.bytes + bytes };
    if (left.count > 0) this.waiting.set(workspaceId, left);
    else this.waiting.delete(workspaceId);
    this.waitingInAll = { count: this.waitingInAll.count + count, bytes: this.waitingInAll.bytes + bytes };
  }
}

/** The first waiting inspection always fits, whatever its size. */
const isFull = ({ count, bytes }: Waiting, more: number, maxCount: number, maxBytes: number): boolean =>
  count >= maxCount || (count > 0 && bytes + more > maxBytes);

const full = (
  code: 'component.too_many_builds' | 'component.builds_overloaded',
  whose: string,
  { count, bytes }: Waiting,
  limit: number,
  maxBytes: number,
): DomainError =>
  new DomainError(
    code,
    `${count} builds ${whose} with ${bytes} bytes of code wait already, the limit is ${limit} with ${maxBytes} bytes: try again later`,
    { waiting: count, limit },
  );
