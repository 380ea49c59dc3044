import { endsWithin } from '#libs/async/deadline.js';
import { newId } from '#libs/kernel/ids.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { DefinitionOverride } from './definition-override.js';
import { HookExecutor } from './hook-executor.js';
import { HookQueue } from './hook-queue.js';
import { type Invocation, type OnConflict } from '../invocation.js';
import { LaneIntake } from '../lane-intake.js';
import { type RunCommitter, runCommitter } from './run-committer.js';
import { RunDispatcher } from './run-dispatcher.js';
import { RunFinisher } from './run-finisher.js';
import { laneStateOf } from '../lane-state.js';
import { type ExecutableRunner } from '../loaded-executables.js';
import { type StoredState } from '../run-journal.js';
import { loggedOutcome, waitsForPackages } from './platform-outcomes.js';
import { executionOf } from './run-result.js';
import { type SourceRunnerDependencies } from '../runner-ports.js';
import { SourceProcess } from './source-process.js';
import { WaitingTold } from './waiting-told.js';

/** Runs of a source that its runner has got and not committed. Times are epoch milliseconds. */
export interface UnfinishedRuns {
  readonly runs: readonly {
    readonly id: string;
    readonly kind: string;
    readonly queuedAt: number;
    /** Null until it begins. */
    readonly startedAt: number | null;
  }[];
  /** Offset up to which the records of the lane are among these runs or have ended. */
  readonly through: number;
}

/**
 * Runs one source in this process. Invocations start in lane order. Results are committed in the order in which the
 * runs ended, many in one commit. Only then are invocations acknowledged.
 */
export class SourceRunner implements ExecutableRunner {
  private readonly intake: LaneIntake;
  private readonly override = new DefinitionOverride();
  private readonly process: SourceProcess;
  private readonly dispatcher: RunDispatcher;
  private readonly committer: RunCommitter;
  private readonly finisher: RunFinisher;
  private readonly hooks: HookExecutor;
  private readonly hookQueue: HookQueue;
  private closed = false;
  private waitingUntilIdle: (() => void)[] = [];

  /** Makes the parts in the order of their dependencies. A call back to a later part goes through the runner. */
  private constructor(
    readonly sourceId: string,
    private readonly deps: SourceRunnerDependencies,
    stored: StoredState,
    onConflict: OnConflict,
  ) {
    const { override } = this;
    const lane = laneStateOf(stored);
    const intake = (this.intake = new LaneIntake(sourceId, deps.journal, lane));
    const waiting = new WaitingTold({ sourceId, delayed: deps.delayed, clock: deps.clock });
    const committer = (this.committer = runCommitter({
      sourceId,
      deps,
      delayed: waiting,
      stored: lane,
      tracker: intake.tracker,
      heard: intake.heard,
      strategy: () => (override.current(deps.clock.now()) ?? deps.sources.find(sourceId)?.definition)?.dedupe ?? null,
      onIdle: () => this.resumeIfIdle(),
      onRefused: () => this.process.endSoon(),
      onConflict: (error) => onConflict(this.lostTo(error)),
    }));
    const process = (this.process = new SourceProcess({
      sourceId,
      deps,
      committer,
      waiting,
      untilIdle: () => this.untilIdle(),
      onLate: (workspaceId, definition, outcome) => this.late(workspaceId, definition, outcome),
    }));
    const finisher = (this.finisher = new RunFinisher({
      sourceId,
      deps,
      committer,
      process,
      invocations: intake.inFlight,
    }));
    const hooks = (this.hooks = new HookExecutor({ sourceId, deps, process, override, committer }));
    const isClosed = (): boolean => this.closed;
    this.dispatcher = new RunDispatcher({
      sourceId,
      deps,
      process,
      override,
      finisher,
      invocations: intake.inFlight,
      onPackagesMissing: ({ message }) => this.say((now) => waitsForPackages(message, now)),
      onRunEnded: () => this.resumeIfIdle(),
      isClosed,
      heldBy: () => intake.tracker.heldBy(),
    });
    const operationEnded = (): void => this.operationEnded();
    this.hookQueue = new HookQueue({ sourceId, deps, hooks, finisher, operationEnded, isClosed });
  }

  /** @param onConflict called when another process has committed: this runner ends, the caller drops its sandbox. */
  static async load(sourceId: string, deps: SourceRunnerDependencies, onConflict: OnConflict): Promise<SourceRunner> {
    return new SourceRunner(sourceId, deps, await deps.journal.load({ executable: sourceId }), onConflict);
  }

  /** True once it accepts no more invocations. */
  isClosed(): boolean {
    return this.closed;
  }

  /** Closes the runner if nothing is queued, running or uncommitted. */
  retire(): boolean {
    const idle = this.intake.inFlight.size === 0 && this.isIdle() && !this.override.active() && this.hookQueue.isIdle();
    if (idle) this.closed = true;
    return idle;
  }

  /** Accepts invocations in lane order. Accepts none when it returns false (closed) or rejects (journal not readable). */
  async accept(invocations: readonly Invocation[]): Promise<boolean> {
    const seen = await this.intake.seen(invocations);
    if (this.closed) return false;
    for (const invocation of invocations) this.admit(invocation, seen);
    this.dispatcher.dispatch();
    return true;
  }

  /** Runs one hook with the given definition. Resolves once its emits and db changes are durable. */
  hook(hook: ProcessCall, definition: SourceDefinition, workspaceId: string, executionId: string): Promise<RunOutcome> {
    const timeoutMs = this.deps.settings.hookTimeoutMs;
    return this.hooks.run({ hook, definition, workspaceId, executionId, timeoutMs });
  }

  /** Writes a line of the platform to the source's `$logs`. */
  note(executionId: string, msg: string): void {
    this.say((now) => loggedOutcome({ k: 'console.error', ts: now, msg }, now), executionId);
  }

  /** Commits an outcome that belongs to no run. */
  private say(outcomeAt: (now: number) => RunOutcome, given?: string): void {
    const source = this.deps.sources.find(this.sourceId);
    if (!source || this.closed) return;
    const now = this.deps.clock.now();
    const outcome = outcomeAt(now);
    const executionId = given ?? newId('inv', now);
    const execution = executionOf(this.sourceId, executionId, source.definition, source.workspaceId);
    this.committer.push({ execution, outcome, invocation: undefined, committed: () => undefined });
  }

  /** Commits what code wrote after its run. The event log may not have the definition yet. */
  private late(workspaceId: string, definition: SourceDefinition, outcome: RunOutcome): void {
    const id = newId('inv', this.deps.clock.now());
    const execution = executionOf(this.sourceId, id, definition, workspaceId);
    // The end of the run may have arrived in the same frame, and its own lines come first.
    setImmediate(() => this.committer.push({ execution, outcome, invocation: undefined, committed: () => undefined }));
  }

  /** Returns the invocations of the lane that are not acknowledged. */
  unfinished(): UnfinishedRuns {
    const { inFlight, tracker } = this.intake;
    const runs = [...inFlight.values()].map((invocation) => ({
      id: invocation.headers.id,
      kind: invocation.headers.kind,
      queuedAt: invocation.record.timestamp,
      startedAt: inFlight.begunAt(invocation) ?? null,
    }));
    return { runs, through: tracker.admittedTo() };
  }

  /** Returns to the definition in the event log. */
  operationEnded(): void {
    this.override.end();
    this.dispatcher.dispatch();
  }

  /**
   * Accepts no more invocations, and waits at most `withinMs` until those that run are committed. The others are
   * neither committed nor acknowledged, so the log redelivers them.
   */
  async close(withinMs?: number): Promise<void> {
    this.closed = true;
    this.dispatcher.clear();
    this.process.drain();
    const idle = this.hookQueue.idle().then(() => this.untilIdle());
    if (withinMs === undefined) await idle;
    else await endsWithin(idle, withinMs);
    this.abandon(new Error(`source ${this.sourceId} was released by this process`));
    await this.process.end();
  }

  /** Ends the runner after another process has committed. Returns the invocations in flight, in lane order. */
  private lostTo(conflict: Error): readonly Invocation[] {
    const unfinished = this.intake.inFlight.clear();
    this.abandon(conflict);
    return unfinished;
  }

  /** Ends the runner without committing the runs in flight. */
  private abandon(reason: Error): void {
    this.closed = true;
    this.dispatcher.clear();
    this.intake.inFlight.clear();
    this.committer.abandon(reason);
    this.resumeIfIdle();
  }

  private admit(invocation: Invocation, seen: ReadonlySet<string>): void {
    switch (this.intake.admit(invocation, seen)) {
      case 'new':
        return this.enqueue(invocation);
      case 'repeat':
        return this.finisher.finishRepeat(invocation);
      case 'done':
        return this.finisher.finishWithoutRun(invocation);
      case 'ignored':
        return;
    }
  }

  private enqueue(invocation: Invocation): void {
    switch (invocation.headers.kind) {
      case 'http':
      case 'apphook':
      case 'emit':
      case 'manual':
      case 'timer':
        return this.dispatcher.enqueue(invocation);
      case 'hook':
        return this.hookQueue.enqueue(invocation);
      case 'settled':
        return this.hookQueue.enqueueEnd(invocation);
      case 'delayed':
        return this.finisher.finishDelayed(invocation);
      case 'alarm':
      case 'resume':
      case 'cancel':
      case 'cancel_runs':
      case 'wake':
        return this.finisher.finishWithoutRun(invocation);
    }
  }

  /** True when nothing runs and everything is committed. */
  private isIdle(): boolean {
    return this.dispatcher.isIdle && !this.committer.busy();
  }

  private untilIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.waitingUntilIdle.push(resolve);
      this.resumeIfIdle();
    });
  }

  /** Ends the waits for idleness when the runner is idle, or when nothing more will be committed. */
  private resumeIfIdle(): void {
    if (!this.committer.abandonedFor && !this.isIdle()) return;
    for (const resume of this.waitingUntilIdle.splice(0)) resume();
  }
}
