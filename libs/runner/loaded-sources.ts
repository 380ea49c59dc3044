import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Invocation } from './invocation.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import { SourceRunner } from './source/source-runner.js';

const MAX_LOADED = 1_000;
/** Pause after another process has committed. Random, so that two processes that both claim a source diverge. */
const conflictPauseMs = (): number => 100 + Math.random() * 400;

/** Sources that this process runs, with at most one runner each, loaded on demand. */
export class LoadedSources {
  private readonly runners = new Map<string, Promise<SourceRunner>>();
  /** Runners being closed. The next runner of the source is loaded only afterwards. */
  private readonly leaving = new Map<string, Promise<void>>();
  private closing = false;

  constructor(private readonly deps: SourceRunnerDependencies) {}

  ids(): readonly string[] {
    return [...this.runners.keys()];
  }

  /** Returns undefined when the source is not loaded. */
  loaded(sourceId: string): Promise<SourceRunner> | undefined {
    return this.runners.get(sourceId);
  }

  /** Returns the source's runner, loading it first if needed. Rejects when its state cannot be read. */
  get(sourceId: string): Promise<SourceRunner> {
    const known = this.runners.get(sourceId);
    if (known) return known;
    const runner = this.keep(sourceId, async (onConflict) => {
      await this.leaving.get(sourceId);
      return SourceRunner.load(sourceId, this.deps, onConflict);
    });
    if (this.runners.size > MAX_LOADED) void this.evictIdle(sourceId);
    return runner;
  }

  /** Hands over invocations from the source's lane, unless the lane is revoked or this process closes. */
  async accept(sourceId: string, invocations: readonly Invocation[], revoked: () => boolean): Promise<void> {
    while (!this.closing && !revoked()) {
      const runner = await this.get(sourceId);
      // The runner may have closed meanwhile. Then the next one accepts them.
      if (this.closing || revoked() || (await runner.accept(invocations))) return;
    }
  }

  /** Returns a runner that is open. Tries again when one closes while the caller waits for it. */
  async open(sourceId: string): Promise<SourceRunner> {
    for (;;) {
      const runner = await this.get(sourceId);
      if (!runner.isClosed()) return runner;
    }
  }

  /** Closes the source's runner and forgets it. Resolves when it writes no more. Idempotent. */
  async release(sourceId: string, withinMs?: number): Promise<void> {
    const runner = this.runners.get(sourceId);
    if (!runner) return this.leaving.get(sourceId);
    this.runners.delete(sourceId);
    const closed = runner.then(
      (loaded) => loaded.close(withinMs),
      // It was never loaded, and its caller has got the error.
      () => undefined,
    );
    this.leaving.set(sourceId, closed);
    try {
      await closed;
    } finally {
      if (this.leaving.get(sourceId) === closed) this.leaving.delete(sourceId);
    }
  }

  async close(withinMs?: number): Promise<void> {
    this.closing = true;
    await Promise.all(this.ids().map((sourceId) => this.release(sourceId, withinMs)));
  }

  private keep(
    sourceId: string,
    load: (onConflict: (unfinished: readonly Invocation[]) => void) => Promise<SourceRunner>,
  ): Promise<SourceRunner> {
    const runner = load((unfinished) => {
      // A runner that was released already is not replaced.
      if (this.runners.get(sourceId) !== runner) return;
      this.deps.logger.warn({ source: sourceId, unfinished: unfinished.length }, 'run.conflict: loading again');
      void this.keep(sourceId, (onConflict) => this.loadAgain(sourceId, unfinished, onConflict));
    });
    this.runners.set(sourceId, runner);
    runner.catch(() => {
      if (this.runners.get(sourceId) === runner) this.runners.delete(sourceId);
    });
    return runner;
  }

  /**
   * Loads a source again after another process has committed. Invocations in flight are unacknowledged. If this process
   * owns the lane, it must run them itself, because the log will not hand them over a second time.
   */
  private async loadAgain(
    sourceId: string,
    unfinished: readonly Invocation[],
    onConflict: (unfinished: readonly Invocation[]) => void,
  ): Promise<SourceRunner> {
    await this.deps.sandboxes.drop(sourceId);
    await pause(conflictPauseMs());
    const backoff = new Backoff({ firstMs: 100, longestMs: 1_000 });
    for (;;) {
      const ours = unfinished.filter((invocation) => !invocation.revoked());
      if (this.closing || (ours.length === 0 && unfinished.length > 0)) {
        throw new Error(`source ${sourceId} is now owned by another process`);
      }
      try {
        const runner = await SourceRunner.load(sourceId, this.deps, onConflict);
        await runner.accept(ours);
        return runner;
      } catch (error) {
        this.deps.metrics.platformFailure();
        this.deps.logger.error({ source: sourceId, attempt: backoff.count, error: String(error) }, 'run.load_failed');
        await pause(backoff.next());
      }
    }
  }

  /** Retires idle runners beyond the limit. Their state is read again on demand. */
  private async evictIdle(except: string): Promise<void> {
    for (const [sourceId, runner] of [...this.runners]) {
      if (this.runners.size <= MAX_LOADED) return;
      if (sourceId === except) continue;
      // A runner that failed to load has been removed already.
      const loaded = await runner.catch(() => undefined);
      if (!loaded?.retire()) continue;
      if (this.runners.get(sourceId) === runner) this.runners.delete(sourceId);
    }
  }
}
