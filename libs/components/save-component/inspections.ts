import { DomainError } from '#libs/kernel/domain-error.js';
import { type ComponentInspector, type InspectionLimits } from '../ports.js';

type Inspected = Awaited<ReturnType<ComponentInspector['inspect']>>;

export interface InspectionRequest {
  readonly workspaceId: string;
  /** The same component is looked at once at a time. */
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
/** Code that waits, of one workspace and in all. */
const WAITING_BYTES = 32 * MB;
const WAITING_BYTES_IN_ALL = 128 * MB;

/**
 * Each inspection takes two processes, so that only so many are under way at once. Workspaces take turns, and none
 * holds more than half of the slots: slow code of one delays the deploys of that one. The same code posted many times at
 * once is looked at once. What waits is bounded per workspace and in all.
 */
export class Inspections {
  private readonly underWay = new Map<string, Promise<Inspected>>();
  /** Starts of waiting inspections by workspace, the workspace whose turn it is first. */
  private readonly queues = new Map<string, (() => void)[]>();
  private readonly running = new Map<string, number>();
  private readonly waiting = new Map<string, Waiting>();
  private runningInAll = 0;
  private waitingInAll = NONE;

  constructor(private readonly limits: InspectionLimits) {}

  /**
   * What is under way for this component, else `inspect` in its turn. Rejects with DomainError
   * component.too_many_builds or component.builds_overloaded when it would have to wait and too many wait already.
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
      // To the end: it is the turn of the others.
      this.queues.delete(workspaceId);
      const start = queue.shift();
      if (queue.length > 0) this.queues.set(workspaceId, queue);
      if (!start) continue;
      this.take(workspaceId);
      return start();
    }
  }

  /** Counts one that waits. Throws when there is no room for it. */
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

/** The first one always fits, whatever its size. */
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
    `${count} builds ${whose} with ${bytes} bytes of code wait already, at most ${limit} with ${maxBytes} bytes may wait: send this one again later`,
    { waiting: count, limit },
  );
