import { Backoff } from '#libs/async/backoff.js';
import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '../../kernel/clock.js';
import { CpuMeter } from './cpu-meter.js';
import { Entry, PooledSandbox } from './pooled-sandbox.js';
import { type Holding, holdingOf, nextOf, type Waiter } from './sandbox-waiters.js';
import { BundleNotLoaded, type Sandbox, type SandboxFactory, SandboxGone, type SandboxSpec } from '../sandbox.js';

export interface SandboxPoolOptions {
  /** Maximum number of processes. When all are busy, further callers wait. Default 50. */
  readonly maxWarm?: number;
  /** Maximum number of processes starting at once. Default: twice the processors, at least 4. */
  readonly maxStarting?: number;
  /** Time after which an idle process ends. Default 5 minutes. */
  readonly idleMs?: number;
  /** First pause after a bundle failed to load. It doubles up to a minute. Default 1 s. */
  readonly backoffMs?: number;
  readonly clock?: Clock;
}

export interface SandboxPoolStats {
  readonly warm: number;
  readonly busy: number;
  readonly starting: number;
  /** Sources waiting for a free slot. */
  readonly waiting: number;
  /** Processes started since the pool was created. */
  readonly started: number;
  readonly evicted: number;
  /** Processes ended after their runs, to free a slot for another workspace. */
  readonly drained: number;
  /** Processes ended because they were busy without a run. */
  readonly spun: number;
}

interface Failure {
  readonly error: Error;
  readonly backoff: Backoff;
  readonly until: number;
}

const MAX_BACKOFF_MS = 60_000;
/** Grace period before a just-acquired process may be evicted. A full pool also checks again at this interval. */
const GRACE_MS = 100;

export interface Spinning {
  readonly sourceId: string;
  readonly workspaceId: string;
  readonly cpuMs: number;
  readonly overMs: number;
}

/** Interval between samples of the CPU time of processes. */
const METER_MS = 1_000;

/**
 * Keeps one warm process per source, started on first use. A full pool serves the workspace with the fewest processes
 * first. Within a workspace, the source that has waited longest goes first (docs/adr/0017).
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
  /** Waiting sources in order of arrival. */
  private waiting: Waiter[] = [];
  /** Processes taken from a workspace above its share. They end with their current runs. */
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
   * Returns the source's live process, or starts one. `spec` is called only for a start, once for all callers. Rejects
   * when the process cannot be started. After a bundle failed to load, rejects with the same error until a growing
   * pause is over or the source was dropped.
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

  /** Ends the source's process, if any, and forgets a failure to load its bundle. Idempotent. */
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

  /** Ends all processes and refuses new ones. Idempotent. */
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

  /** Registers the listener for processes that were ended because they were busy without a run. */
  onSpinning(told: (spinning: Spinning) => void): void {
    this.told = told;
  }

  /** CPU seconds since the start, for the workspaces that used the most. */
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
    const firstMs = this.backoffMs;
    const backoff = this.failures.get(sourceId)?.backoff ?? new Backoff({ firstMs, longestMs: MAX_BACKOFF_MS });
    this.failures.set(sourceId, { error, backoff, until: this.clock.now() + backoff.next() });
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

  /** Resolves when one more process may start, and counts that process. */
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

  /** Assigns free slots to waiting sources, and frees a slot when there is none. */
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

  /** Process counts of each workspace that has a process or waits for one. */
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
   * Evicts the least recently used idle process of the workspace with the most processes. Its slot is free once it has
   * ended. When no process is idle and a waiting workspace is below its share, drains the oldest process of a workspace
   * above its share. That process gives back the runs it has not started, and ends after the others.
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

  /** Called when the last run of a process has ended. */
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
      // The process never started, and its caller got the error.
      () => undefined,
    );
    this.stopping.add(stopped);
    return stopped.finally(() => {
      this.stopping.delete(stopped);
      this.turns();
    });
  }
}
