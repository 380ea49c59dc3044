import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '#libs/kernel/clock.js';
import { CpuMeter } from './cpu-meter.js';
import { LoadFailures } from './load-failures.js';
import { randomKey } from '#libs/kernel/ids.js';
import { CALLS, Entry, PooledSandbox, statesOf } from './pooled-sandbox.js';
import {
  heldBy,
  type Holding,
  holdingOf,
  idlestOf,
  keptBeyond,
  longestBusy,
  nextOf,
  placesOf,
  sizeOf,
  type Waiter,
} from './sandbox-waiters.js';
import { type SandboxPoolOptions, type SandboxPoolStats } from './sandbox-pool-options.js';
import { BundleNotLoaded, type Sandbox, type SandboxFactory, SandboxGone, type SandboxSpec } from '../sandbox.js';

/** Grace period before a just-acquired process may be evicted. A full pool also checks again at this interval. */
const GRACE_MS = 100;

export interface Spinning {
  readonly sourceId: string;
  /** True for a process of calls, whose `sourceId` names no source. */
  readonly isOfCalls: boolean;
  readonly workspaceId: string;
  readonly cpuMs: number;
  readonly overMs: number;
}

/** Process lent to one call. */
export interface LentSandbox {
  readonly sandbox: Sandbox;
  /** True when it has served a call before. */
  readonly isWarm: boolean;
  /** Resolves once the process is kept for a later call or has ended. Idempotent. */
  readonly giveBack: () => Promise<void>;
}

/** Interval between samples of the CPU time of processes. */
const METER_MS = 1_000;

/**
 * Keeps one warm process per source, started on first use. A full pool serves the workspace with the fewest processes
 * first. Within a workspace, the source that has waited longest goes first (docs/adr/0017).
 *
 * It also lends processes to calls, one call at a time, and keeps them within the same bound (docs/adr/0069). A call
 * never waits here, because its caller bounds the calls at once. So lent processes come on top of those of sources.
 */
export class SandboxPool {
  private readonly entries = new Map<string, Entry>();
  private readonly failures: LoadFailures;
  /** Places of processes that are ending. */
  private readonly stopping = new Map<Promise<void>, number>();
  private readonly maxWarm: number;
  private readonly placeMb: number;
  private readonly maxStarting: number;
  private readonly idleMs: number;
  private readonly clock: Clock;
  private started = 0;
  private evicted = 0;
  private drained = 0;
  private closed = false;
  /** Waiting sources in order of arrival. */
  private waiting: Waiter[] = [];
  /** Processes taken from a workspace above its share. They end with their current runs. */
  private readonly draining = new Set<Entry>();
  /** Processes that serve a call. */
  private readonly lent = new Set<Entry>();
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
    this.placeMb = options.placeMb ?? 256;
    this.maxStarting = options.maxStarting ?? Math.max(4, 2 * availableParallelism());
    this.idleMs = options.idleMs ?? 5 * 60_000;
    this.clock = options.clock ?? systemClock;
    this.failures = new LoadFailures(options.backoffMs ?? 1_000, this.clock);
  }

  /**
   * Returns the source's live process, or starts one. `spec` is called only for a start, once for all callers. Rejects
   * when the process cannot be started. After a bundle failed to load, rejects with the same error until a growing
   * pause is over or the source was dropped. `memoryMb` is the heap of a process that has one of its own.
   */
  async acquire(
    sourceId: string,
    workspaceId: string,
    spec: () => Promise<SandboxSpec>,
    memoryMb?: number,
  ): Promise<Sandbox> {
    if (this.closed) throw new SandboxGone(sourceId, 'the pool is closed');
    const known = this.entries.get(sourceId);
    if (known?.usable()) {
      known.usedAt = this.clock.now();
      return known.sandbox;
    }
    if (known) this.entries.delete(sourceId);
    const failure = this.failures.of(sourceId);
    if (failure) throw failure;
    this.meterTimer ??= setInterval(() => this.lookAtCpu(), METER_MS).unref();
    const entry = new Entry(
      sourceId,
      workspaceId,
      this.clock.now(),
      () => this.idle(entry),
      undefined,
      this.placesFor(memoryMb),
    );
    this.entries.set(sourceId, entry);
    entry.sandbox = this.start(sourceId, entry, spec);
    return entry.sandbox;
  }

  /**
   * Lends a process of the workspace that was kept under `key`, or starts one. Without a key, the process serves one call.
   * `spec` is called for a start, with the name of the process. Rejects as it does, or when the process cannot be started.
   */
  async lend(
    workspaceId: string,
    key: string | undefined,
    spec: (name: string) => Promise<SandboxSpec>,
    memoryMb?: number,
  ): Promise<LentSandbox> {
    if (this.closed) throw new SandboxGone('a call', 'the pool is closed');
    this.meterTimer ??= setInterval(() => this.lookAtCpu(), METER_MS).unref();
    const kept = key === undefined ? undefined : this.keptUnder(workspaceId, key);
    const [name, places] = [`${CALLS}${randomKey(18)}`, this.placesFor(memoryMb)];
    const entry = kept ?? new Entry(name, workspaceId, this.clock.now(), () => undefined, key, places);
    this.entries.delete(entry.sourceId);
    this.lent.add(entry);
    entry.going++;
    entry.begun++;
    entry.inner ??= await this.startLent(entry, () => spec(entry.sourceId));
    return { sandbox: entry.inner, isWarm: kept !== undefined, giveBack: () => this.takeBack(entry) };
  }

  /** Ends the source's process, if any, and forgets a failure to load its bundle. Idempotent. */
  async drop(sourceId: string): Promise<void> {
    this.failures.forget(sourceId);
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
    for (const entry of this.all()) void this.stop(entry);
    this.entries.clear();
    this.draining.clear();
    this.lent.clear();
    for (const { sourceId, refuse } of this.waiting.splice(0)) refuse(new SandboxGone(sourceId, 'the pool is closed'));
    await Promise.all(this.stopping.keys());
  }

  stats(): SandboxPoolStats {
    const { started, evicted, drained, spun } = this;
    return { ...statesOf(this.all()), started, evicted, drained, spun };
  }

  /** Registers the listener for processes that were ended because they were busy without a run. */
  onSpinning(told: (spinning: Spinning) => void): void {
    this.told = told;
  }

  /** CPU seconds since the start, for the workspaces that used the most. */
  cpuSeconds(): Readonly<Record<string, number>> {
    return this.meter.secondsByWorkspace();
  }

  private all(): Entry[] {
    return [...this.entries.values(), ...this.draining, ...this.lent];
  }

  /** Returns the most recently used process, so that the others stay idle. Ends processes that may serve no call. */
  private keptUnder(workspaceId: string, key: string): Entry | undefined {
    let latest: Entry | undefined;
    for (const entry of this.entries.values()) {
      if (entry.key !== key || entry.workspaceId !== workspaceId) continue;
      if (!entry.mayServe()) this.evict(entry);
      else if (!latest || entry.usedAt >= latest.usedAt) latest = entry;
    }
    return latest;
  }

  private async startLent(entry: Entry, spec: () => Promise<SandboxSpec>): Promise<Sandbox> {
    entry.starting = true;
    entry.sandbox = spec().then((whole) => this.factory.start(whole));
    this.endSurplus();
    try {
      const inner = await entry.sandbox;
      this.began(entry, inner);
      return inner;
    } catch (error) {
      this.lent.delete(entry);
      throw error;
    } finally {
      entry.starting = false;
    }
  }

  private async takeBack(entry: Entry): Promise<void> {
    if (!this.lent.delete(entry)) return;
    entry.ended(this.clock);
    if (entry.key === undefined || !entry.mayServe()) return this.stop(entry);
    this.entries.set(entry.sourceId, entry);
    const most = Math.floor(this.maxWarm / 2);
    for (const beyond of keptBeyond(this.entries.values(), entry.workspaceId, most)) this.evict(beyond);
    this.endSurplus();
  }

  /** Ends idle processes while there are more than the pool may keep. */
  private endSurplus(): void {
    for (let surplus = placesOf(this.all()) - this.maxWarm; surplus > 0;) {
      const idle = this.idlest(this.held());
      if (!idle) return;
      this.evict(idle);
      surplus -= idle.places;
    }
  }

  private placesFor(memoryMb = this.placeMb): number {
    return Math.min(this.maxWarm, Math.ceil(memoryMb / this.placeMb));
  }

  private idlest(held: ReadonlyMap<string, Holding>): Entry | undefined {
    return idlestOf(this.entries.values(), held, this.clock.now() - GRACE_MS);
  }

  /** Notes that a process has started. */
  private began(entry: Entry, inner: Sandbox): void {
    this.started++;
    entry.inner = inner;
    entry.startedAt = entry.usedAt = this.clock.now();
    this.endWhenIdle(entry, this.idleMs);
  }

  private async start(sourceId: string, entry: Entry, spec: () => Promise<SandboxSpec>): Promise<Sandbox> {
    try {
      await this.room(entry);
      const inner = await this.factory.start(await spec());
      this.failures.forget(sourceId);
      this.began(entry, inner);
      return new PooledSandbox(inner, entry, this.clock);
    } catch (error) {
      if (this.entries.get(sourceId) === entry) this.entries.delete(sourceId);
      if (error instanceof BundleNotLoaded) this.failures.add(sourceId, error);
      throw error;
    } finally {
      entry.starting = false;
      this.turns();
    }
  }

  private endWhenIdle(entry: Entry, inMs: number): void {
    entry.timer = setTimeout(() => {
      const idleFor = this.clock.now() - entry.usedAt;
      if (entry.going > 0 || idleFor < this.idleMs)
        return this.endWhenIdle(entry, entry.going > 0 ? this.idleMs : this.idleMs - idleFor);
      this.evict(entry);
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
    let living = 0;
    for (const places of this.stopping.values()) living += places;
    for (const { all } of held.values()) living += all;
    for (;;) {
      const next = nextOf(this.waiting, held, this.maxStarting);
      // One free place is enough, because a large process might wait forever for all that it takes.
      if (!next || living >= this.maxWarm) break;
      this.waiting.splice(this.waiting.indexOf(next), 1);
      const own = holdingOf(held, next.entry.workspaceId);
      own.all += next.entry.places;
      own.starting++;
      living += next.entry.places;
      next.go();
    }
    if (this.waiting.length === 0) return;
    if (living >= this.maxWarm) this.makeRoom(held);
    this.look ??= setTimeout(() => {
      this.look = undefined;
      this.turns();
    }, GRACE_MS).unref();
  }

  private held(): Map<string, Holding> {
    return heldBy([...this.entries.values(), ...this.draining]);
  }

  /**
   * Evicts the idlest process, whose slot is free once it has ended. When none is idle and a waiting workspace is below
   * its share, drains the oldest process of a workspace above its share, which ends after its started runs.
   */
  private makeRoom(held: ReadonlyMap<string, Holding>): void {
    if (this.stopping.size + this.draining.size >= this.waiting.length) return;
    const idle = this.idlest(held);
    if (idle) return this.evict(idle);
    const share = Math.max(1, Math.floor(this.maxWarm / Math.max(2, held.size)));
    const isShort = this.waiting.some(({ entry }) => sizeOf(held)(entry) < share);
    const longest = longestBusy(this.entries.values(), held, share);
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
    for (const entry of this.all()) {
      if (!entry.inner?.alive()) continue;
      if (entry.isKept && entry.inner.isSpent()) {
        this.evict(entry);
        continue;
      }
      const spinning = this.meter.look(entry, entry.inner.cpuMs());
      if (!spinning) continue;
      const { sourceId, workspaceId } = entry;
      this.spun++;
      this.evict(entry);
      this.told({ sourceId, workspaceId, isOfCalls: sourceId.startsWith(CALLS), ...spinning });
    }
  }

  private evict(entry: Entry): void {
    if (this.entries.get(entry.sourceId) === entry) this.entries.delete(entry.sourceId);
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
    this.stopping.set(stopped, entry.places);
    return stopped.finally(() => {
      this.stopping.delete(stopped);
      this.turns();
    });
  }
}
