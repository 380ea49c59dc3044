import { type Refusal } from '../stream-log/refusal.js';
import { type Admission, type Arrival } from './admission.js';

/** Amount of work in flight. Each method is a cheap look-up. */
export interface WorkInFlight {
  /** Unfinished records of a source: invocations, emits not yet routed, and deliveries to healthy endpoints. */
  ofSource(sourceId: string): number;
  /** Unfinished records of a workspace. Each source counts with at most the limit of one source. */
  ofWorkspace(workspaceId: string): number;
  /** Bytes in memory in total and of one workspace, and the number of workspaces that share them. */
  bytes(): number;
  bytesOfWorkspace(workspaceId: string): number;
  workspaces(): number;
}

export interface PressureLimits {
  /** Most records in flight of one source and of one workspace. */
  readonly source: number;
  readonly workspace: number;
  /** Most bytes in memory, of all workspaces together. */
  readonly bytes: number;
  /** Most arrivals that wait for room, of one source and in total, and how long each waits. */
  readonly heldOfSource: number;
  readonly held: number;
  readonly heldMs: number;
}

interface Held {
  readonly arrival: Arrival;
  readonly resume: (refusal: Refusal | undefined) => void;
  readonly until: number;
}

const RETRY_AFTER_S = 1;
/** Interval at which held arrivals are checked. */
const LOOK_MS = 1;

/**
 * Back-pressure at admission (docs/adr/0006). Arrivals of a source above its limit are held, and refused when they do
 * not fit or wait too long. The same applies to a workspace above its limit. Above the limit of bytes it applies to
 * each workspace with more than an equal share. Latency and memory stay bounded, and no source waits for
 * another's excess.
 */
export class PressureGate implements Admission {
  /** Held arrivals by source, in the order of the sources' turns. */
  private readonly queues = new Map<string, Held[]>();
  private waiting = 0;
  /** Admitted events that are not yet stored. */
  private readonly bySource = new Map<string, number>();
  private readonly byWorkspace = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly inFlight: WorkInFlight,
    private readonly limits: PressureLimits,
    private readonly now: () => number,
  ) {}

  enter(arrival: Arrival): true | Promise<Refusal | undefined> {
    const queue = this.queues.get(arrival.sourceId);
    const reason = this.reasonAgainst(arrival);
    if (!reason && !queue) {
      this.count(arrival, 1);
      return true;
    }
    if ((queue?.length ?? 0) >= this.limits.heldOfSource || this.waiting >= this.limits.held) {
      return Promise.resolve(reason ?? this.refusal(arrival.sourceId, 'other events of it are already waiting'));
    }
    return new Promise((resume) => {
      const held = { arrival, resume, until: this.now() + this.limits.heldMs };
      if (queue) queue.push(held);
      else this.queues.set(arrival.sourceId, [held]);
      this.waiting++;
      this.timer ??= setTimeout(() => this.look(), LOOK_MS);
    });
  }

  left(arrival: Arrival): void {
    this.count(arrival, -1);
  }

  waitingCount(): number {
    return this.waiting;
  }

  close(): void {
    clearTimeout(this.timer);
    for (const [sourceId, queue] of this.queues) {
      for (const { resume } of queue) resume(this.refusal(sourceId, 'the server is shutting down'));
    }
    this.queues.clear();
    this.waiting = 0;
  }

  /**
   * Gives each waiting source one turn. An admitted source moves to the end, so the sources share a workspace's room.
   */
  private look(): void {
    this.timer = undefined;
    const now = this.now();
    for (const [sourceId, queue] of [...this.queues]) {
      const done = this.admit(queue, now);
      if (done === 0) continue;
      this.waiting -= done;
      this.queues.delete(sourceId);
      if (done < queue.length) this.queues.set(sourceId, queue.slice(done));
    }
    if (this.waiting > 0) this.timer = setTimeout(() => this.look(), LOOK_MS);
  }

  /** Answers arrivals from the head of the queue; returns how many. */
  private admit(queue: readonly Held[], now: number): number {
    let done = 0;
    for (const { arrival, resume, until } of queue) {
      const reason = this.reasonAgainst(arrival);
      if (!reason) {
        this.count(arrival, 1);
        resume(undefined);
      } else if (until <= now) resume(reason);
      else break;
      done++;
    }
    return done;
  }

  private reasonAgainst({ sourceId, workspaceId, bytes }: Arrival): Refusal | undefined {
    const { inFlight, limits } = this;
    const entering = this.bySource.get(sourceId) ?? 0;
    const ofSource = inFlight.ofSource(sourceId) + entering;
    if (ofSource >= limits.source) {
      return this.refusal(sourceId, `it has ${ofSource} events in flight, the limit of one source is ${limits.source}`);
    }
    const ofWorkspace = inFlight.ofWorkspace(workspaceId) + (this.byWorkspace.get(workspaceId) ?? 0);
    if (ofWorkspace >= limits.workspace) {
      const actual = `its workspace has ${ofWorkspace} events in flight, the limit is ${limits.workspace}`;
      return this.refusal(sourceId, actual);
    }
    if (inFlight.bytes() + bytes <= limits.bytes) return undefined;
    const own = inFlight.bytesOfWorkspace(workspaceId) + bytes;
    const share = Math.floor(limits.bytes / Math.max(1, inFlight.workspaces()));
    if (own <= share) return undefined;
    return this.refusal(
      sourceId,
      `the server's memory for events is used up; its workspace uses ${own} bytes, above its share of ${share} bytes`,
    );
  }

  private refusal(sourceId: string, reason: string): Refusal {
    const text = `source ${sourceId} takes no more events for the moment: ${reason}. Send it again later`;
    return { status: 503, code: 'overloaded', text, retryAfterS: RETRY_AFTER_S };
  }

  private count({ sourceId, workspaceId }: Arrival, sign: 1 | -1): void {
    add(this.bySource, sourceId, sign);
    add(this.byWorkspace, workspaceId, sign);
  }
}

const add = (counts: Map<string, number>, id: string, change: number): void => {
  const count = (counts.get(id) ?? 0) + change;
  if (count === 0) counts.delete(id);
  else counts.set(id, count);
};
