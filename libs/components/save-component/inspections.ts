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
  private readonly underWay = new Map<string, Promise<Inspected>>();
  /** Start functions of waiting inspections by workspace. The workspace whose turn it is comes first. */
  private readonly queues = new Map<string, (() => void)[]>();
  private readonly running = new Map<string, number>();
  private readonly waiting = new Map<string, Waiting>();
  private runningInAll = 0;
  private waitingInAll = NONE;

  constructor(private readonly limits: InspectionLimits) {}

  /**
   * Joins the running inspection of this component, or calls `inspect` in its turn. Rejects with DomainError
   * component.too_many_builds or component.builds_overloaded when it would have to wait and the queue is full.
   */
  async of(request: InspectionRequest, inspect: () => Promise<Inspected>): Promise<Inspected> {
    const { workspaceId, componentId } = request;
    const known = this.underWay.get(componentId);
    if (known) {
      this.admit(request);
      return known.finally(() => this.wait(workspaceId, -1, -request.bytes));
    }
    const mustWait = !this.hasSlotFor(workspaceId);
    if (mustWait) this.admit(request);
    const started = this.inTurn(request, mustWait, inspect).finally(() => this.underWay.delete(componentId));
    this.underWay.set(componentId, started);
    return started;
  }

  private async inTurn(
    { workspaceId, bytes }: InspectionRequest,
    mustWait: boolean,
    inspect: () => Promise<Inspected>,
  ): Promise<Inspected> {
    if (mustWait) {
      await new Promise<void>((resolve) => this.enqueue(workspaceId, resolve));
      this.wait(workspaceId, -1, -bytes);
    } else this.take(workspaceId);
    try {
      return await inspect();
    } finally {
      this.release(workspaceId);
    }
  }

  private hasSlotFor(workspaceId: string): boolean {
    const { atOnce } = this.limits;
    const perWorkspace = Math.max(1, Math.floor(atOnce / 2));
    return this.runningInAll < atOnce && (this.running.get(workspaceId) ?? 0) < perWorkspace;
  }

  private take(workspaceId: string): void {
    this.runningInAll++;
    this.running.set(workspaceId, (this.running.get(workspaceId) ?? 0) + 1);
  }

  private release(workspaceId: string): void {
    this.runningInAll--;
    const left = (this.running.get(workspaceId) ?? 0) - 1;
    if (left > 0) this.running.set(workspaceId, left);
    else this.running.delete(workspaceId);
    this.startNext();
  }

  private enqueue(workspaceId: string, start: () => void): void {
    const queue = this.queues.get(workspaceId);
    if (queue) queue.push(start);
    else this.queues.set(workspaceId, [start]);
  }

  private startNext(): void {
    for (const [workspaceId, queue] of this.queues) {
      if (!this.hasSlotFor(workspaceId)) continue;
      // Moves to the end, so that the other workspaces get their turn.
      this.queues.delete(workspaceId);
      const start = queue.shift();
      if (queue.length > 0) this.queues.set(workspaceId, queue);
      if (!start) continue;
      this.take(workspaceId);
      return start();
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
