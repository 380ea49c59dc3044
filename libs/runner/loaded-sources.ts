import { setTimeout as pause } from 'node:timers/promises';
import { type Invocation } from './run-commit.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import { SourceRunner } from './source-runner.js';

const MAX_LOADED = 1_000;
/** After another process has committed. Random: two that both take a source for theirs get out of each other's way. */
const conflictPauseMs = (): number => 100 + Math.random() * 400;
const RETRY_MS = [100, 300, 1_000];

/** The sources that this process runs: at most one runner each, loaded when work for it comes. */
export class LoadedSources {
  private readonly runners = new Map<string, Promise<SourceRunner>>();
  /** Being closed: the next runner of the source is loaded after that. */
  private readonly leaving = new Map<string, Promise<void>>();
  private closing = false;

  constructor(private readonly deps: SourceRunnerDependencies) {}

  ids(): readonly string[] {
    return [...this.runners.keys()];
  }

  /** Undefined when the source is not loaded. */
  loaded(sourceId: string): Promise<SourceRunner> | undefined {
    return this.runners.get(sourceId);
  }

  /** Rejects when its state cannot be read. */
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

  /** Hands over what came from the source's lane, unless that is revoked or this process closes. */
  async accept(sourceId: string, invocations: readonly Invocation[], revoked: () => boolean): Promise<void> {
    while (!this.closing && !revoked()) {
      const runner = await this.get(sourceId);
      // It may have been let go meanwhile: then there is, or will be, another one.
      if (this.closing || revoked() || (await runner.accept(invocations))) return;
    }
  }

  /** A runner that takes work: one may be let go while it is waited for. */
  async open(sourceId: string): Promise<SourceRunner> {
    for (;;) {
      const runner = await this.get(sourceId);
      if (!runner.isClosed()) return runner;
    }
  }

  /** Closes the source's runner and forgets it. Resolves when nothing of it is written any more. Idempotent. */
  async release(sourceId: string, withinMs?: number): Promise<void> {
    const runner = this.runners.get(sourceId);
    if (!runner) return this.leaving.get(sourceId);
    this.runners.delete(sourceId);
    const closed = runner.then(
      (loaded) => loaded.close(withinMs),
      // It was never loaded; who wanted it was told why.
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
      // What was let go already is not ours to go on with.
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
   * Another process owned the source, or still does. What was in hand here is unacknowledged: if the lane is this
   * process's, it is nobody else's to run, and the log will not hand it over a second time.
   */
  private async loadAgain(
    sourceId: string,
    unfinished: readonly Invocation[],
    onConflict: (unfinished: readonly Invocation[]) => void,
  ): Promise<SourceRunner> {
    await this.deps.sandboxes.drop(sourceId);
    await pause(conflictPauseMs());
    for (let attempt = 0; ; attempt++) {
      const ours = unfinished.filter((invocation) => !invocation.revoked());
      if (this.closing || (ours.length === 0 && unfinished.length > 0)) {
        throw new Error(`source ${sourceId} is another process's now`);
      }
      try {
        const runner = await SourceRunner.load(sourceId, this.deps, onConflict);
        await runner.accept(ours);
        return runner;
      } catch (error) {
        this.deps.metrics.platformFailure();
        this.deps.logger.error({ source: sourceId, attempt, error: String(error) }, 'run.load_failed');
        await pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
      }
    }
  }

  /** State of sources that rest is read again when they wake. */
  private async evictIdle(except: string): Promise<void> {
    for (const [sourceId, runner] of [...this.runners]) {
      if (this.runners.size <= MAX_LOADED) return;
      if (sourceId === except) continue;
      // One that cannot be loaded has been taken out already.
      const loaded = await runner.catch(() => undefined);
      if (!loaded?.retire()) continue;
      if (this.runners.get(sourceId) === runner) this.runners.delete(sourceId);
    }
  }
}
