import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '../kernel/clock.js';
import {
  type HookName,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  type SandboxFactory,
  SandboxGone,
  type SandboxSpec,
} from './sandbox.js';

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
}

interface Failure {
  readonly error: Error;
  readonly pauseMs: number;
  readonly until: number;
}

const MAX_BACKOFF_MS = 60_000;
/** Who has just been given a process is left the time to use it; also how often a full pool looks again. */
const GRACE_MS = 100;

/** One warm process per source, started on first use. */
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
  private closed = false;
  private waiting: (() => void)[] = [];

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
  async acquire(sourceId: string, spec: () => Promise<SandboxSpec>): Promise<Sandbox> {
    if (this.closed) throw new SandboxGone(sourceId, 'the pool is closed');
    const known = this.entries.get(sourceId);
    if (known?.usable()) {
      known.usedAt = this.clock.now();
      return known.sandbox;
    }
    if (known) this.entries.delete(sourceId);
    const failure = this.failures.get(sourceId);
    if (failure && this.clock.now() < failure.until) throw failure.error;
    const entry = new Entry(this.clock.now(), () => this.wake());
    this.entries.set(sourceId, entry);
    entry.sandbox = this.start(sourceId, entry, spec);
    return entry.sandbox;
  }

  /** Ends the source's process, if any, and forgets that its bundle did not load. Idempotent. */
  async drop(sourceId: string): Promise<void> {
    this.failures.delete(sourceId);
    const entry = this.entries.get(sourceId);
    if (!entry) return;
    this.entries.delete(sourceId);
    await this.stop(entry);
  }

  /** Ends all processes, and refuses new ones. Idempotent. */
  async close(): Promise<void> {
    this.closed = true;
    for (const entry of this.entries.values()) void this.stop(entry);
    this.entries.clear();
    this.wake();
    await Promise.all(this.stopping);
  }

  stats(): SandboxPoolStats {
    const all = [...this.entries.values()];
    return {
      warm: all.filter((entry) => entry.inner?.alive()).length,
      busy: all.filter((entry) => entry.going > 0).length,
      starting: all.filter((entry) => entry.starting).length,
      waiting: all.filter((entry) => !entry.inner && !entry.starting).length,
      started: this.started,
      evicted: this.evicted,
    };
  }

  private async start(sourceId: string, entry: Entry, spec: () => Promise<SandboxSpec>): Promise<Sandbox> {
    try {
      await this.room(sourceId, entry);
      const inner = await this.factory.start(await spec());
      this.started++;
      this.failures.delete(sourceId);
      entry.inner = inner;
      entry.usedAt = this.clock.now();
      this.endWhenIdle(sourceId, entry, this.idleMs);
      return new PooledSandbox(inner, entry, this.clock);
    } catch (error) {
      if (this.entries.get(sourceId) === entry) this.entries.delete(sourceId);
      if (error instanceof Error && error.cause !== undefined) this.pause(sourceId, error);
      throw error;
    } finally {
      entry.starting = false;
      this.wake();
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
  private async room(sourceId: string, entry: Entry): Promise<void> {
    while (!this.hasRoom()) {
      if (this.closed) throw new SandboxGone(sourceId, 'the pool is closed');
      if (this.entries.get(sourceId) !== entry) throw new SandboxGone(sourceId, 'it was dropped before it started');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, GRACE_MS);
        this.waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    entry.starting = true;
  }

  private hasRoom(): boolean {
    const all = [...this.entries];
    const starting = all.filter(([, entry]) => entry.starting).length;
    if (starting >= this.maxStarting) return false;
    const living = all.filter(([, entry]) => entry.inner?.alive()).length;
    if (starting + living + this.stopping.size < this.maxWarm) return true;
    // The one unused for longest goes; its place is free when it has ended.
    const now = this.clock.now();
    const [oldest] = all
      .filter(([, entry]) => entry.inner?.alive() && entry.going === 0 && now - entry.usedAt >= GRACE_MS)
      .sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest && this.stopping.size <= this.waiting.length) this.evict(...oldest);
    return false;
  }

  private wake(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resume of waiting) resume();
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
      this.wake();
    });
  }
}

class Entry {
  sandbox: Promise<Sandbox> = new Promise<never>(() => undefined);
  inner: Sandbox | undefined;
  timer: NodeJS.Timeout | undefined;
  going = 0;
  starting = false;

  constructor(
    public usedAt: number,
    private readonly onIdle: () => void,
  ) {}

  usable(): boolean {
    return !this.inner || this.inner.alive();
  }

  readonly ended = (clock: Clock): void => {
    this.usedAt = clock.now();
    if (--this.going === 0) this.onIdle();
  };
}

/** Tells the pool when its process is busy. */
class PooledSandbox implements Sandbox {
  private readonly ended: () => void;

  constructor(
    private readonly inner: Sandbox,
    private readonly entry: Entry,
    clock: Clock,
  ) {
    this.ended = () => this.entry.ended(clock);
  }

  run(request: RunRequest): Promise<RunOutcome> {
    return this.counted(this.inner.run(request));
  }

  hook(hook: HookName, timeoutMs: number): Promise<RunOutcome> {
    return this.counted(this.inner.hook(hook, timeoutMs));
  }

  alive(): boolean {
    return this.inner.alive();
  }

  stop(): Promise<void> {
    return this.inner.stop();
  }

  private counted(outcome: Promise<RunOutcome>): Promise<RunOutcome> {
    this.entry.going++;
    outcome.then(this.ended, this.ended);
    return outcome;
  }
}
