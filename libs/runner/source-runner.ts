import { endsWithin } from '../async/deadline.js';
import { type SourceDefinition } from '../sources/published.js';
import { DefinitionOverride } from './definition-override.js';
import { type HookCall } from './hook-call.js';
import { type HookRequest } from './hook-invocation.js';
import { HookQueue } from './hook-queue.js';
import { InFlightInvocations } from './in-flight-invocations.js';
import { LaneTracker } from './lane-tracker.js';
import { type Invocation, type OnConflict, REPEATABLE } from './run-commit.js';
import { RunCommitter } from './run-committer.js';
import { type SourceState } from './run-journal.js';
import { type RunnableSource, type SourceRunnerDependencies } from './runner-ports.js';
import { type HookName } from '../component-model/hooks.js';
import { BundleNotLoaded, type RunOutcome, type Sandbox, SandboxGone } from '../sandbox/sandbox.js';
import { failedToLoad, hostEnded } from './source-definition.js';
import { SourcePause } from './source-pause.js';
import { SourceProcess } from './source-process.js';
import { type Execution, loggedOutcome } from './run-result.js';
import { TickCoalescer } from './tick-coalescer.js';

const RETRY_MS = [100, 300, 1_000, 3_000, 10_000];
/** Time to wait for the event log, per attempt, when a source is unknown. */
const FOLLOW_MS = 10_000;

/**
 * Runs one source in this process: its queue, its sandbox, and its state. Invocations start in lane order. Results are
 * committed in the order in which the runs ended, many in one commit. Only then are invocations acknowledged.
 */
export class SourceRunner {
  private readonly queue: Invocation[] = [];
  private readonly invocations = new InFlightInvocations();
  private readonly tracker: LaneTracker;
  private readonly committer: RunCommitter;
  private readonly hooks: HookQueue;
  private readonly ticks = new TickCoalescer();
  private readonly process: SourceProcess;
  private inFlight = 0;
  private pumping = false;
  private readonly pause = new SourcePause(
    () => this.deps.isPaused?.(this.sourceId) ?? false,
    () => this.pump(),
  );
  private closed = false;
  private abandoned: Error | undefined;
  private attempts = 0;
  private readonly override = new DefinitionOverride();
  private quiet: (() => void)[] = [];

  private constructor(
    readonly sourceId: string,
    private readonly deps: SourceRunnerDependencies,
    state: SourceState,
    onConflict: OnConflict,
  ) {
    this.tracker = new LaneTracker(state.progress);
    this.committer = new RunCommitter({
      sourceId,
      deps,
      state,
      tracker: this.tracker,
      strategy: () =>
        (this.override.current(deps.clock.now()) ?? deps.sources.find(sourceId)?.definition)?.dedupe ?? null,
      onIdle: () => this.settleQuiet(),
      onRefused: () => {
        // The next acquire starts it again with the committed db.
        deps.sandboxes.drop(sourceId).catch((error: unknown) => this.failed(error, 'sandbox.drop_failed'));
      },
      onConflict: (error) => {
        const unfinished = this.invocations.clear();
        this.abandon(error);
        onConflict(unfinished);
      },
    });
    this.process = new SourceProcess({
      sourceId,
      deps,
      db: () => this.committer.db,
      untilQuiet: () => this.untilQuiet(),
      abandoned: () => this.abandoned,
    });
    this.hooks = new HookQueue(sourceId, deps, {
      performHook: (invocation, request, timeoutMs) => this.performHook(invocation, request, timeoutMs),
      finishWithoutRun: (invocation) => this.finishWithoutRun(invocation),
      operationEnded: () => this.operationEnded(),
      isClosed: () => this.isClosed(),
    });
  }

  /** @param onConflict called when another process has committed: this runner ends, the caller drops its sandbox. */
  static async load(sourceId: string, deps: SourceRunnerDependencies, onConflict: OnConflict): Promise<SourceRunner> {
    return new SourceRunner(sourceId, deps, await deps.journal.load(sourceId), onConflict);
  }

  /** True once it accepts no more invocations. */
  isClosed(): boolean {
    return this.closed;
  }

  /** Closes the runner if nothing is queued, running or uncommitted. */
  retire(): boolean {
    const idle =
      this.invocations.size === 0 &&
      this.inFlight === 0 &&
      !this.committer.busy() &&
      !this.override.active() &&
      this.hooks.idle();
    if (idle) this.closed = true;
    return idle;
  }

  /** Takes invocations in lane order. Takes none when it returns false (closed) or rejects (journal not readable). */
  async accept(invocations: readonly Invocation[]): Promise<boolean> {
    const repeatable = invocations.filter((i) => REPEATABLE.has(i.headers.kind)).map((i) => i.headers.id);
    const seen = repeatable.length > 0 ? await this.deps.journal.seen(this.sourceId, repeatable) : new Set<string>();
    if (this.closed) return false;
    for (const invocation of invocations) this.take(invocation, seen);
    this.pump();
    return true;
  }

  /** Runs one hook with the given definition. Resolves once its emits and db changes are durable. */
  hook(hook: HookName, definition: SourceDefinition, workspaceId: string, executionId: string): Promise<RunOutcome> {
    const timeoutMs = this.deps.settings.hookTimeoutMs;
    return this.perform({ hook, definition, workspaceId, executionId, timeoutMs }, undefined);
  }

  /** Writes a line of the platform to the source's `$logs`. */
  note(executionId: string, msg: string): void {
    const source = this.deps.sources.find(this.sourceId);
    if (!source || this.closed) return;
    const outcome = loggedOutcome(msg, this.deps.clock.now());
    const execution = this.executionOf(executionId, source.definition, source.workspaceId);
    this.committer.push({ execution, outcome, invocation: undefined, committed: () => undefined });
  }

  /** Returns to the definition in the event log. */
  operationEnded(): void {
    this.override.end();
    this.pump();
  }

  /**
   * Stops accepting and waits until running invocations are committed, at most `withinMs`. The others are neither
   * committed nor acknowledged, so they stay in the log.
   */
  async close(withinMs?: number): Promise<void> {
    this.closed = true;
    this.queue.length = 0;
    this.process.drain();
    const quiet = this.hooks.ended().then(() => this.untilQuiet());
    await (withinMs === undefined ? quiet : endsWithin(quiet, withinMs));
    this.abandon(new Error(`source ${this.sourceId} was released by this process`));
    await this.deps.sandboxes.drop(this.sourceId);
  }

  /** Ends the runner without committing what still runs. */
  private abandon(reason: Error): void {
    this.closed = true;
    this.abandoned ??= reason;
    this.queue.length = 0;
    this.invocations.clear();
    this.committer.abandon(reason);
    this.settleQuiet();
  }

  private take(invocation: Invocation, seen: ReadonlySet<string>): void {
    const { headers, record } = invocation;
    // The log hands a record over again while it is in flight when its batch failed for another reason.
    if (this.invocations.has(record.offset)) return;
    if (!this.tracker.take(record.offset)) {
      if (this.tracker.isDone(record.offset)) invocation.ack();
      return;
    }
    const first = this.invocations.add(invocation);
    if (first && !seen.has(headers.id)) this.enqueue(invocation);
    else this.finishWithoutRun(invocation);
  }

  private enqueue(invocation: Invocation): void {
    switch (invocation.headers.kind) {
      case 'http':
      case 'emit':
      case 'manual':
        this.queue.push(invocation);
        return;
      case 'timer': {
        const { run, absorbed } = this.ticks.take(invocation);
        if (run) this.queue.push(run);
        if (absorbed) this.finishWithoutRun(absorbed);
        return;
      }
      case 'hook':
        return this.hooks.hook(invocation);
      case 'settled':
        return this.hooks.operationEnded(invocation);
    }
  }

  /** Hands queued invocations to the sandbox in order, up to the window. */
  private pump(): void {
    if (this.pumping || this.closed || this.queue.length === 0 || this.pause.holds()) return;
    this.pumping = true;
    void this.pumpQueue().then(
      () => this.pumpAgain(0),
      (error: unknown) => {
        // The platform failed, not the component, so it retries with back-off. The records stay unacknowledged.
        if (!this.closed) this.failed(error, 'run.start_failed');
        this.pumpAgain(RETRY_MS[Math.min(this.attempts++, RETRY_MS.length - 1)] ?? 0);
      },
    );
  }

  private failed(error: unknown, message: string): void {
    this.deps.metrics.platformFailure();
    this.deps.logger.error({ source: this.sourceId, error: String(error) }, message);
  }

  private pumpAgain(pauseMs: number): void {
    this.pumping = false;
    if (this.queue.length === 0 || this.inFlight >= this.deps.settings.window || this.closed) return;
    if (pauseMs === 0) this.pump();
    else setTimeout(() => this.pump(), pauseMs).unref();
  }

  private async pumpQueue(): Promise<void> {
    while (this.queue.length > 0 && this.inFlight < this.deps.settings.window && !this.closed) {
      const source = this.deps.sources.find(this.sourceId) ?? (await this.findLater());
      const definition = this.override.current(this.deps.clock.now()) ?? source?.definition;
      if (!source || !definition) {
        for (const invocation of this.queue.splice(0)) this.finishWithoutRun(invocation);
        return;
      }
      let sandbox: Sandbox;
      try {
        sandbox = await this.process.sandboxFor(source.workspaceId, definition);
      } catch (error) {
        if (!(error instanceof BundleNotLoaded)) throw error;
        const invocation = this.queue.shift();
        if (invocation)
          this.finish(invocation, definition, source.workspaceId, failedToLoad(error.userError, this.deps.clock.now()));
        continue;
      }
      this.attempts = 0;
      await this.startQueued(sandbox, definition, source.workspaceId);
    }
  }

  /** Hands over as many as may run at once. A suspect of killing the host runs alone, at its place in the lane. */
  private async startQueued(sandbox: Sandbox, definition: SourceDefinition, workspaceId: string): Promise<void> {
    const { hostDeaths, settings } = this.deps;
    const isSuspect = (invocation: Invocation | undefined): invocation is Invocation =>
      invocation !== undefined && hostDeaths.isSuspect(invocation.headers.id);
    if (isSuspect(this.queue[0])) return this.startAlone(sandbox, definition, workspaceId);
    const blocked = hostDeaths.blocked();
    if (blocked) return blocked;
    const free = sandbox.alive() ? settings.window - this.inFlight : 0;
    const suspect = this.queue.slice(0, free).findIndex(isSuspect);
    const batch = this.queue.splice(0, suspect === -1 ? free : suspect);
    hostDeaths.begin(batch.map(({ headers }) => headers.id));
    for (const invocation of batch) this.start(invocation, sandbox, definition, workspaceId);
  }

  private async startAlone(sandbox: Sandbox, definition: SourceDefinition, workspaceId: string): Promise<void> {
    const { hostDeaths, clock } = this.deps;
    const invocation = this.queue.shift();
    if (!invocation) return;
    const { id } = invocation.headers;
    const deaths = hostDeaths.deathsOf(id);
    const verdict = await hostDeaths.alone(id);
    if (this.closed) return hostDeaths.end(id);
    if (verdict === 'run') this.start(invocation, sandbox, definition, workspaceId);
    else this.finish(invocation, definition, workspaceId, hostEnded(deaths, clock.now()));
  }

  /** Waits for the event log, because the lane may be ahead of what this process has read of it. */
  private async findLater(): Promise<RunnableSource | undefined> {
    await this.deps.follower.upToDate(FOLLOW_MS);
    return this.deps.sources.find(this.sourceId);
  }

  private start(invocation: Invocation, sandbox: Sandbox, definition: SourceDefinition, workspaceId: string): void {
    const { headers, record } = invocation;
    const { settings, replies } = this.deps;
    this.inFlight++;
    const timeoutMs = headers.kind === 'timer' ? settings.timerTimeoutMs : settings.httpTimeoutMs;
    const request = { invocationId: headers.id, event: record.value, timeoutMs };
    sandbox
      .run(
        headers.respond === ''
          ? request
          : { ...request, onImmediateResponse: (reply) => replies.immediate(headers.respond, headers.id, reply) },
      )
      .then(
        (outcome) => this.finish(invocation, definition, workspaceId, outcome),
        (error: unknown) => this.requeue(invocation, error),
      )
      .finally(() => {
        this.inFlight--;
        this.settleQuiet();
        if (this.queue.length > 0) this.pump();
      });
  }

  /** Puts back an invocation that never started, at its place. */
  private requeue(invocation: Invocation, error: unknown): void {
    this.deps.hostDeaths.end(invocation.headers.id);
    if (this.closed) return;
    if (!(error instanceof SandboxGone)) {
      const fields = { source: this.sourceId, invocation: invocation.headers.id, error: String(error) };
      this.deps.logger.error(fields, 'run.failed');
      this.deps.metrics.platformFailure();
    }
    const at = this.queue.findIndex((other) => other.record.offset > invocation.record.offset);
    this.queue.splice(at === -1 ? this.queue.length : at, 0, invocation);
  }

  private finish(invocation: Invocation, definition: SourceDefinition, workspaceId: string, left: RunOutcome): void {
    const { headers, record } = invocation;
    const abandoned = (): void => this.deps.hostDeaths.end(headers.id);
    // This process lost the source and killed the run. The new owner runs it again.
    if (this.abandoned) {
      left.held?.release();
      return abandoned();
    }
    const { mask } = this.process;
    const outcome = mask.outcome(left);
    const execution: Execution = {
      ...this.executionOf(headers.id, definition, workspaceId, record.timestamp),
      event: outcome.error ? mask.json(record.value) : record.value,
      hops: Number(headers.hops),
    };
    this.deps.metrics.run(outcome.status, workspaceId, outcome.endedAt - outcome.startedAt);
    const tick = headers.kind === 'timer' ? this.ticks.ended(headers.prop) : undefined;
    if (tick && !this.closed) this.queue.push(tick);
    const committed = (): void => {
      if (headers.respond !== '') {
        this.deps.replies.ended(headers.respond, headers.id, outcome, headers.kind === 'http' ? 'reply' : 'outcome');
      }
      this.done(invocation);
    };
    this.committer.push({ execution, outcome, invocation, committed, abandoned });
  }

  private finishWithoutRun(invocation: Invocation): void {
    const { sourceId } = this;
    const nothing = { componentId: '', workspaceId: '', event: 'null', hops: 0, emits: false };
    const execution = { id: invocation.headers.id, sourceId, ...nothing };
    this.committer.push({ execution, outcome: undefined, invocation, committed: () => this.done(invocation) });
  }

  private done(invocation: Invocation): void {
    this.deps.hostDeaths.end(invocation.headers.id);
    this.invocations.remove(invocation);
    invocation.ack();
  }

  private executionOf(id: string, { componentId }: SourceDefinition, workspaceId: string, at?: number): Execution {
    return { id, at, sourceId: this.sourceId, componentId, workspaceId, event: 'null', hops: 0, emits: true };
  }

  private async performHook(invocation: Invocation, request: HookRequest, timeoutMs: number): Promise<void> {
    const { id, workspace, respond } = invocation.headers;
    const call = { ...request, workspaceId: workspace, executionId: id, timeoutMs };
    const outcome = await this.perform(call, invocation);
    if (respond !== '') this.deps.replies.ended(respond, id, outcome, 'outcome');
    this.done(invocation);
  }

  private async perform(call: HookCall, invocation: Invocation | undefined): Promise<RunOutcome> {
    const { hook, definition, workspaceId, executionId, timeoutMs } = call;
    const hookEnded = this.override.begin(definition);
    let outcome: RunOutcome;
    try {
      outcome = await this.process.hook(workspaceId, definition, hook, timeoutMs);
    } finally {
      hookEnded(this.deps.clock.now());
    }
    const emits = hook !== 'deploy' || definition.emitOnDeploy;
    const at = invocation?.record.timestamp;
    const execution = { ...this.executionOf(executionId, definition, workspaceId, at), hook, emits };
    await new Promise<void>((committed, abandoned) => {
      this.committer.push({ execution, outcome, invocation, committed, abandoned });
    });
    return outcome;
  }

  private untilQuiet(): Promise<void> {
    return new Promise((resolve) => {
      this.quiet.push(resolve);
      this.settleQuiet();
    });
  }

  private settleQuiet(): void {
    if (!this.abandoned && (this.inFlight > 0 || this.committer.busy())) return;
    for (const resolve of this.quiet.splice(0)) resolve();
  }
}
