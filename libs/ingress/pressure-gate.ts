import { type Refusal } from '#libs/stream-log/refusal.js';
import { type Admission, type Arrival } from './admission.js';

/** Amount of work in flight. Each method is a cheap look-up. */
export interface WorkInFlight {
  /** Unfinished records of a source: invocations, emits not yet routed, and deliveries to healthy endpoints. */
  ofSource(sourceId: string): number;
  /** Unfinished records of a workspace. Each source counts with at most the limit of one source. */
  ofWorkspace(workspaceId: string): number;
  /** Number of the workspace's sources that have unfinished records; 0 when unknown. */
  sourcesOf(workspaceId: string): number;
  /** Bytes that wait for the disk. */
  queuedBytes(): number;
}

export interface PressureLimits {
  /** Most records in flight of one source and of one workspace. */
  readonly source: number;
  readonly workspace: number;
  /**
   * Records in flight of one source above which each of its arrivals waits for room, for `pacedMs` at most, and then
   * enters in any case. It keeps the queue of a busy source short, and refuses nothing.
   */
  readonly paced: number;
  readonly pacedMs: number;
  /** Most bytes of arrivals that are not yet stored, of all workspaces together. */
  readonly bytes: number;
  /** Most arrivals that wait for room, of one source and in total, and the longest wait of each. */
  readonly heldOfSource: number;
  readonly held: number;
  readonly heldMs: number;
}

interface Held {
  readonly arrival: Arrival;
  readonly resume: (refusal: Refusal | undefined) => void;
  readonly pacedUntil: number;
  readonly until: number;
}

/** Arrivals that are admitted and not yet stored. */
interface Entering {
  records: number;
  bytes: number;
  /** Number of sources, of a workspace. */
  sources: number;
}

const RETRY_AFTER_S = 1;
/** Multiple of the limit of bytes above which every arrival is held. Below it, sources with less than their share enter. */
const HARD_TIMES = 2;
/** Interval at which held arrivals are checked. */
const LOOK_MS = 1;

/**
 * Back-pressure at admission (docs/adr/0006). Arrivals of a busy source are paced: held for a moment, and never refused
 * for it. Those of a source above its limit are held, and refused when they do not fit or wait too long. In a workspace
 * above its limit this applies to each source with more than an equal share of it. Above the limit of bytes it applies
 * to each source with more than an equal share of its workspace's share. Latency and memory stay bounded, and no source
 * waits for another's excess.
 */
export class PressureGate implements Admission {
  /** Held arrivals by source, in the order of the sources' turns. */
  private readonly queues = new Map<string, Held[]>();
  private waiting = 0;
  /** Admitted events that are not yet stored. */
  private readonly bySource = new Map<string, Entering>();
  private readonly byWorkspace = new Map<string, Entering>();
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly inFlight: WorkInFlight,
    private readonly limits: PressureLimits,
    private readonly now: () => number,
  ) {}

  enter(arrival: Arrival): true | Promise<Refusal | undefined> {
    const queue = this.queues.get(arrival.sourceId);
    const reason = this.reasonAgainst(arrival);
    const isPaced = !reason && this.isBusy(arrival);
    const isFull = (queue?.length ?? 0) >= this.limits.heldOfSource || this.waiting >= this.limits.held;
    if (!reason && (isPaced ? isFull : !queue)) {
      this.count(arrival, 1);
      return true;
    }
    if (isFull) {
      return Promise.resolve(reason ?? this.refusal(arrival.sourceId, 'other events of it are already waiting'));
    }
    return new Promise((resume) => {
      const now = this.now();
      const { pacedMs, heldMs } = this.limits;
      const held = { arrival, resume, pacedUntil: now + pacedMs, until: now + heldMs };
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
   * Gives one turn to each waiting source. An admitted source moves to the end, so the sources share a workspace's
   * room.
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
    for (const { arrival, resume, pacedUntil, until } of queue) {
      const reason = this.reasonAgainst(arrival);
      if (!reason && (pacedUntil <= now || !this.isBusy(arrival))) {
        this.count(arrival, 1);
        resume(undefined);
      } else if (until <= now) resume(reason);
      else break;
      done++;
    }
    return done;
  }

  private reasonAgainst(arrival: Arrival): Refusal | undefined {
    return this.tooManyRecords(arrival) ?? this.tooManyBytes(arrival);
  }

  private isBusy({ sourceId }: Arrival): boolean {
    return this.recordsOf(sourceId) >= this.limits.paced;
  }

  private recordsOf(sourceId: string): number {
    return this.inFlight.ofSource(sourceId) + (this.bySource.get(sourceId)?.records ?? 0);
  }

  /** Returns undefined while source and workspace are within their limits of records in flight. */
  tooManyRecords({ sourceId, workspaceId }: Pick<Arrival, 'sourceId' | 'workspaceId'>): Refusal | undefined {
    const { inFlight, limits } = this;
    const ofSource = this.recordsOf(sourceId);
    if (ofSource >= limits.source) {
      return this.refusal(sourceId, `it has ${ofSource} events in flight, the limit of one source is ${limits.source}`);
    }
    const entering = this.byWorkspace.get(workspaceId);
    const ofWorkspace = inFlight.ofWorkspace(workspaceId) + (entering?.records ?? 0);
    if (ofWorkspace < limits.workspace) return undefined;
    const sources = Math.max(1, inFlight.sourcesOf(workspaceId), entering?.sources ?? 0);
    const share = Math.floor(limits.workspace / sources);
    if (ofSource <= share) return undefined;
    const actual = `its workspace has ${ofWorkspace} events in flight, the limit is ${limits.workspace}`;
    return this.refusal(sourceId, `${actual}; it has ${ofSource} of them, above its share of ${share}`);
  }

  private tooManyBytes(arrival: Arrival): Refusal | undefined {
    const { limits, bySource, byWorkspace } = this;
    const { sourceId, workspaceId } = arrival;
    const { bytes } = arrival;
    const all = this.bytes + this.inFlight.queuedBytes() + bytes;
    if (all <= limits.bytes) return undefined;
    const [source, workspace] = [bySource.get(sourceId), byWorkspace.get(workspaceId)];
    const ofWorkspace = Math.floor(limits.bytes / Math.max(1, byWorkspace.size));
    const share = Math.floor(ofWorkspace / Math.max(1, workspace?.sources ?? 0));
    const own = (source?.bytes ?? 0) + bytes;
    const isWithin = own <= share || (workspace?.bytes ?? 0) + bytes <= ofWorkspace;
    // A single event always enters when no other is waiting to be stored.
    if (this.bytes === 0 || (isWithin && all <= HARD_TIMES * limits.bytes)) return undefined;
    return this.refusal(
      sourceId,
      `the server's memory for arriving events is used up; it uses ${own} bytes, above its share of ${share} bytes`,
    );
  }

  private refusal(sourceId: string, reason: string): Refusal {
    const text = `source ${sourceId} takes no more events for the moment: ${reason}. Send it again later`;
    return { status: 503, code: 'overloaded', text, retryAfterS: RETRY_AFTER_S };
  }

  private count(arrival: Arrival, sign: 1 | -1): void {
    const bytes = sign * arrival.bytes;
    this.bytes += bytes;
    const { sourceId, workspaceId } = arrival;
    const before = this.bySource.size;
    add(this.bySource, sourceId, sign, bytes, 0);
    // A source is in one workspace.
    add(this.byWorkspace, workspaceId, sign, bytes, this.bySource.size - before);
  }
}

const add = (counts: Map<string, Entering>, id: string, records: number, bytes: number, sources: number): void => {
  const entering = counts.get(id) ?? { records: 0, bytes: 0, sources: 0 };
  entering.records += records;
  entering.bytes += bytes;
  entering.sources += sources;
  if (entering.records === 0) counts.delete(id);
  else counts.set(id, entering);
};
