import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '../../kernel/clock.js';
import { CpuMeter } from './cpu-meter.js';
import { Entry, PooledSandbox } from './pooled-sandbox.js';
import { type Holding, holdingOf, nextOf, type Waiter } from './sandbox-waiters.js';
import { BundleNotLoaded, type Sandbox, type SandboxFactory, SandboxGone, type SandboxSpec } from '../sandbox.js';

export interface SandboxPoolOptions {
  /** Processes at once. When all are busy, who needs another one waits. Default 50. */
  readonly maxWarm?: number;
  /** Of these, as many may be starting. Default: twice the processors, at least 4. */
  readonly maxStarting?: number;
  /** An idle process ends after this. Default 5 minutes. */
  readonly idleMs?: number;
  /** First pause after a bundle failed to load, doubled up to a minute. Default 1 s. */
  readonly backoffMs?: number;
  readonly clock?: Clock;
}

export interface SandboxPoolStats {
  readonly warm: number;
  readonly busy: number;
  readonly starting: number;
  /** For room. */
  readonly waiting: number;
  /** Since the pool was made. */
  readonly started: number;
  readonly evicted: number;
  /** Ended after their run, for the turn of another workspace. */
  readonly drained: number;
  /** Ended because they were busy without a run. */
  readonly spun: number;
}

interface Failure {
  readonly error: Error;
  readonly pauseMs: number;
  readonly until: number;
}

const MAX_BACKOFF_MS = 60_000;
/** Who has just been given a process is left the time to use it; also how often a full pool looks again. */
const GRACE_MS = 100;

export interface Spinning {
  readonly sourceId: string;
  readonly workspaceId: string;
  readonly cpuMs: number;
  readonly overMs: number;
}

/** How often the processor time of processes is looked at. */
const METER_MS = 1_000;

/**
 * One warm process per source, started on first use. Who needs one waits for a turn: workspaces that have few go first,
 * and within a workspace who has waited for longest (docs/adr/0017).
 */
export class SandboxPool {
  private readonly entries = new Map<string, Entry>();
  private readonly failures = new Map<string, Failure>();
  private readonly stopping = new Set<Promise<void>>();
  private readonly maxWarm: number;
  private readonly maxStarting: number;
  private readonly idleMs: number;
  private readonly backoffMs: number;
  private readonly clock: Clock;
  private started = 0;
  private evicted = 0;
  private drained = 0;
  private closed = false;
  /** In the order of their coming. */
  private waiting: Waiter[] = [];
  /** Taken from a workspace that has more than its share: they end with the run that goes on. */
  private readonly draining = new Set<Entry>();
  private readonly meter = new CpuMeter();
  private meterTimer: NodeJS.Timeout | undefined;
  private look: NodeJS.Timeout | undefined;
  private told: (spinning: Spinning) => void = () => undefined;
  private spun = 0;

  constructor(
    private readonly factory: SandboxFactory,
    options: SandboxPoolOptions = {},
  ) {
    this.maxWarm = options.maxWarm ?? 50;
    this.maxStarting = options.maxStarting ?? Math.max(4, 2 * availableParallelism());
    this.idleMs = options.idleMs ?? 5 * 60_000;
    this.backoffMs = options.backoffMs ?? 1_000;
    this.clock = options.clock ?? systemClock;
  }

  /**
   * The source's live process; `spec` is asked only when one must be started, once for all who wait. Rejects when it
   * cannot be started. After a bundle that did not load, rejects with the same error until a growing pause is over or
   * the source was dropped.
   */
  async acquire(sourceId: string, workspaceId: string, spec: () => Promise<SandboxSpec>): Promise<Sandbox> {
    if (this.closed) throw new SandboxGone(sourceId, 'the pool is closed');
    const known = this.entries.get(sourceId);
    if (known?.usable()) {
      known.usedAt = this.clock.now();
      return known.sandbox;
    }
    if (known) this.entries.delete(sourceId);
    const failure = this.failures.get(sourceId);
    if (failure && this.clock.now() < failure.until) throw failure.error;
    const entry = new Entry(sourceId, workspaceId, this.clock.now(), () => this.idle(entry));
    this.meterTimer ??= setInterval(() => this.lookAtCpu(), METER_MS).unref();
    this.entries.set(sourceId, entry);
    entry.sandbox = this.start(sourceId, entry, spec);
    return entry.sandbox;
  }

  /** Ends the source's process, if any, and forgets that its bundle did not load. Idempotent. */
  async drop(sourceId: string): Promise<void> {
    this.failures.delete(sourceId);
    const entry = this.entries.get(sourceId);
    this.entries.delete(sourceId);
    const ending = [...this.draining].filter((each) => each.sourceId === sourceId);
    for (const each of ending) this.draining.delete(each);
    if (entry) {
      this.refuse(entry);
      ending.push(entry);
    }
    await Promise.all(ending.map((each) => this.stop(each)));
  }

  /** Ends all processes, and refuses new ones. Idempotent. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.meterTimer);
    clearTimeout(this.look);
    for (const entry of [...this.entries.values(), ...this.draining]) void this.stop(entry);
    this.entries.clear();
    this.draining.clear();
    for (const { sourceId, refuse } of this.waiting.splice(0)) refuse(new SandboxGone(sourceId, 'the pool is closed'));
    await Promise.all(this.stopping);
  }

  stats(): SandboxPoolStats {
    const all = [...this.entries.values(), ...this.draining];
    return {
      warm: all.filter((entry) => entry.inner?.alive()).length,
      busy: all.filter((entry) => entry.going > 0).length,
      starting: all.filter((entry) => entry.starting).length,
      waiting: all.filter((entry) => !entry.inner && !entry.starting).length,
      started: this.started,
      evicted: this.evicted,
      drained: this.drained,
      spun: this.spun,
    };
  }

  /** Is told of each process that is ended because it was busy while nothing of its source ran. */
  onSpinning(told: (spinning: Spinning) => void): void {
    this.told = told;
  }

  /** Processor seconds since the start, of the workspaces that used most. */
  cpuSeconds(): Readonly<Record<string, number>> {
    return this.meter.secondsByWorkspace();
  }

  private async start(sourceId: string, entry: Entry, spec: () => Promise<SandboxSpec>): Promise<Sandbox> {
    try {
      await this.room(entry);
      const inner = await this.factory.start(await spec());
      this.started++;
      this.failures.delete(sourceId);
      entry.inner = inner;
      entry.startedAt = entry.usedAt = this.clock.now();
      this.endWhenIdle(sourceId, entry, this.idleMs);
      return new PooledSandbox(inner, entry, this.clock);
    } catch (error) {
      if (this.entries.get(sourceId) === entry) this.entries.delete(sourceId);
      if (error instanceof BundleNotLoaded) this.pause(sourceId, error);
      throw error;
    } finally {
      entry.starting = false;
      this.turns();
    }
  }

  private pause(sourceId: string, error: Error): void {
    const before = this.failures.get(sourceId);
    const pauseMs = before ? Math.min(before.pauseMs * 2, MAX_BACKOFF_MS) : this.backoffMs;
    this.failures.set(sourceId, { error, pauseMs, until: this.clock.now() + pauseMs });
  }

  private endWhenIdle(sourceId: string, entry: Entry, inMs: number): void {
    entry.timer = setTimeout(() => {
      const idleFor = this.clock.now() - entry.usedAt;
      if (entry.going > 0 || idleFor < this.idleMs)
        return this.endWhenIdle(sourceId, entry, entry.going > 0 ? this.idleMs : this.idleMs - idleFor);
      this.evict(sourceId, entry);
    }, inMs);
    entry.timer.unref();
  }

  /** Resolves when one more process may be started, which then counts. */
  private room(entry: Entry): Promise<void> {
    const { sourceId } = entry;
    if (this.closed) return Promise.reject(new SandboxGone(sourceId, 'the pool is closed'));
    return new Promise((resolve, reject) => {
      const go = (): void => {
        entry.starting = true;
        resolve();
      };
      this.waiting.push({ sourceId, entry, go, refuse: reject });
      this.turns();
    });
  }

  private refuse(entry: Entry): void {
    const at = this.waiting.findIndex((waiter) => waiter.entry === entry);
    const [waiter] = at === -1 ? [] : this.waiting.splice(at, 1);
    waiter?.refuse(new SandboxGone(waiter.sourceId, 'it was dropped before it started'));
  }

  /** Gives out what room there is, and makes some. */
  private turns(): void {
    if (this.closed) return;
    const held = this.held();
    let living = this.stopping.size;
    for (const each of held.values()) living += each.all;
    for (;;) {
      const next = nextOf(this.waiting, held, this.maxStarting);
      if (!next || living >= this.maxWarm) break;
      this.waiting.splice(this.waiting.indexOf(next), 1);
      const own = holdingOf(held, next.entry.workspaceId);
      own.all++;
      own.starting++;
      living++;
      next.go();
    }
    if (this.waiting.length === 0) return;
    if (living >= this.maxWarm) this.makeRoom(held);
    this.look ??= setTimeout(() => {
      this.look = undefined;
      this.turns();
    }, GRACE_MS).unref();
  }

  /** Processes of each workspace that has some, or waits for one. */
  private held(): Map<string, Holding> {
    const held = new Map<string, Holding>();
    for (const entry of [...this.entries.values(), ...this.draining]) {
      const own = holdingOf(held, entry.workspaceId);
      if (entry.starting) own.starting++;
      if (entry.starting || entry.inner?.alive()) own.all++;
    }
    return held;
  }

  /**
   * An idle process goes, of the workspace that has most, the one unused for longest; its place is free when it has
   * ended. When none is idle, a workspace that has more than its share while another has less gives one back: the one
   * that it has had for longest gives back what it has not started, and ends after what it has.
   */
  private makeRoom(held: ReadonlyMap<string, Holding>): void {
    if (this.stopping.size + this.draining.size >= this.waiting.length) return;
    const now = this.clock.now();
    const size = ({ workspaceId }: Entry): number => held.get(workspaceId)?.all ?? 0;
    const living = [...this.entries.values()].filter((entry) => entry.inner?.alive());
    const [idle] = living
      .filter((entry) => entry.going === 0 && now - entry.usedAt >= GRACE_MS)
      .sort((a, b) => size(b) - size(a) || a.usedAt - b.usedAt);
    if (idle) return this.evict(idle.sourceId, idle);
    const share = Math.max(1, Math.floor(this.maxWarm / Math.max(2, held.size)));
    const isShort = this.waiting.some(({ entry }) => size(entry) < share);
    const [longest] = living
      .filter((entry) => entry.going > 0 && size(entry) > share)
      .sort((a, b) => size(b) - size(a) || a.startedAt - b.startedAt);
    if (!isShort || !longest) return;
    this.entries.delete(longest.sourceId);
    this.draining.add(longest);
    longest.drains = true;
    longest.inner?.drain();
    this.drained++;
  }

  /** Nothing of it runs any more. */
  private idle(entry: Entry): void {
    if (this.draining.delete(entry)) void this.stop(entry);
    this.turns();
  }

  private lookAtCpu(): void {
    for (const entry of [...this.entries.values(), ...this.draining]) {
      if (!entry.inner?.alive()) continue;
      const spinning = this.meter.look(entry, entry.inner.cpuMs());
      if (!spinning) continue;
      const { sourceId, workspaceId } = entry;
      this.spun++;
      this.evict(sourceId, entry);
      this.told({ sourceId, workspaceId, ...spinning });
    }
  }

  private evict(sourceId: string, entry: Entry): void {
    if (this.entries.get(sourceId) === entry) this.entries.delete(sourceId);
    this.evicted++;
    void this.stop(entry);
  }

  private stop(entry: Entry): Promise<void> {
    clearTimeout(entry.timer);
    const stopped = entry.sandbox.then(
      (sandbox) => {
        clearTimeout(entry.timer);
        return sandbox.stop();
      },
      // It never started: who asked for it was told why.
      () => undefined,
    );
    this.stopping.add(stopped);
    return stopped.finally(() => {
      this.stopping.delete(stopped);
      this.turns();
    });
  }
}
