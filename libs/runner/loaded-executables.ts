import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Invocation, type OnConflict } from './invocation.js';
import { type RunnerLogger, type RunnerMetrics } from './runner-ports.js';

const MAX_LOADED = 1_000;
/** Pause after another process has committed. Random, so that two processes that claim an executable diverge. */
const conflictPauseMs = (): number => 100 + Math.random() * 400;

/** The runner of one executable. */
export interface ExecutableRunner {
  /** True once it accepts no more invocations. */
  isClosed(): boolean;
  /** Closes the runner if nothing is queued, running or uncommitted. */
  retire(): boolean;
  /** Accepts invocations in lane order. Accepts none when it returns false (closed) or rejects (journal not readable). */
  accept(invocations: readonly Invocation[]): Promise<boolean>;
  /** Stops accepting, and resolves when it writes no more. */
  close(withinMs?: number): Promise<void>;
}

export interface LoadedExecutablesOptions<R extends ExecutableRunner> {
  /** Loads the state of an executable and makes its runner. */
  readonly load: (id: string, onConflict: OnConflict) => Promise<R>;
  /** Ends the executable's process. Idempotent. */
  readonly endProcess: (id: string) => Promise<void>;
  /** Called once this process has left the executable to another one. */
  readonly onReleased?: (id: string) => Promise<void>;
  readonly metrics: Pick<RunnerMetrics, 'platformFailure'>;
  readonly logger: Pick<RunnerLogger, 'warn' | 'error'>;
}

/** The executables that this process runs, loaded on demand, with at most one runner each. */
export class LoadedExecutables<R extends ExecutableRunner> {
  private readonly runners = new Map<string, Promise<R>>();
  /** Runners being closed. The next runner of an executable is loaded after the previous one has closed. */
  private readonly leaving = new Map<string, Promise<void>>();
  private closing = false;

  constructor(private readonly options: LoadedExecutablesOptions<R>) {}

  ids(): readonly string[] {
    return [...this.runners.keys()];
  }

  /** Returns undefined when the executable is not loaded. */
  loaded(id: string): Promise<R> | undefined {
    return this.runners.get(id);
  }

  /** Returns the executable's runner, loading it first if needed. Rejects when its state cannot be read. */
  get(id: string): Promise<R> {
    const known = this.runners.get(id);
    if (known) return known;
    const runner = this.keep(id, async (onConflict) => {
      await this.leaving.get(id);
      return this.options.load(id, onConflict);
    });
    if (this.runners.size > MAX_LOADED) void this.evictIdle(id);
    return runner;
  }

  /** Hands over invocations from the executable's lane, unless the lane is revoked or this process closes. */
  async accept(id: string, invocations: readonly Invocation[], revoked: () => boolean): Promise<void> {
    while (!this.closing && !revoked()) {
      const runner = await this.get(id);
      // The runner may have closed in the meantime. The next one then accepts them.
      if (this.closing || revoked() || (await runner.accept(invocations))) return;
    }
  }

  /** Returns an open runner. Tries again when one closes while the caller waits for it. */
  async open(id: string): Promise<R> {
    for (;;) {
      const runner = await this.get(id);
      if (!runner.isClosed()) return runner;
    }
  }

  /** Closes the executable's runner and forgets it. Resolves when it writes nothing more. Idempotent. */
  async release(id: string, withinMs?: number): Promise<void> {
    const runner = this.runners.get(id);
    if (!runner) return this.leaving.get(id);
    this.runners.delete(id);
    const closed = runner.then(
      async (loaded) => {
        await loaded.close(withinMs);
        await this.options.onReleased?.(id);
      },
      // The runner was never loaded, and the caller that asked for it got the error.
      () => undefined,
    );
    this.leaving.set(id, closed);
    try {
      await closed;
    } finally {
      if (this.leaving.get(id) === closed) this.leaving.delete(id);
    }
  }

  async close(withinMs?: number): Promise<void> {
    this.closing = true;
    await Promise.all(this.ids().map((id) => this.release(id, withinMs)));
  }

  private keep(id: string, load: (onConflict: OnConflict) => Promise<R>): Promise<R> {
    const runner = load((unfinished) => {
      // A runner that was released already gets no successor.
      if (this.runners.get(id) !== runner) return;
      this.options.logger.warn({ source: id, unfinished: unfinished.length }, 'run.conflict: loading again');
      void this.keep(id, (onConflict) => this.loadAgain(id, unfinished, onConflict));
    });
    this.runners.set(id, runner);
    runner.catch(() => {
      if (this.runners.get(id) === runner) this.runners.delete(id);
    });
    return runner;
  }

  /**
   * Loads an executable again after another process has committed. Its invocations in flight are unacknowledged. If
   * this process owns the lane, it must run them itself, because the log does not hand them over twice.
   */
  private async loadAgain(id: string, unfinished: readonly Invocation[], onConflict: OnConflict): Promise<R> {
    await this.options.endProcess(id);
    await pause(conflictPauseMs());
    const backoff = new Backoff({ firstMs: 100, longestMs: 1_000 });
    for (;;) {
      const ours = unfinished.filter((invocation) => !invocation.revoked());
      if (this.closing || (ours.length === 0 && unfinished.length > 0)) {
        throw new Error(`${id} is now owned by another process`);
      }
      try {
        const runner = await this.options.load(id, onConflict);
        await runner.accept(ours);
        return runner;
      } catch (error) {
        this.options.metrics.platformFailure();
        this.options.logger.error({ source: id, attempt: backoff.count, error: String(error) }, 'run.load_failed');
        await pause(backoff.next());
      }
    }
  }

  /** Retires idle runners above the limit. Their state is read again on demand. */
  private async evictIdle(except: string): Promise<void> {
    for (const [id, runner] of [...this.runners]) {
      if (this.runners.size <= MAX_LOADED) return;
      if (id === except) continue;
      // A runner that failed to load has been removed already.
      const loaded = await runner.catch(() => undefined);
      if (!loaded?.retire()) continue;
      if (this.runners.get(id) === runner) this.runners.delete(id);
    }
  }
}
