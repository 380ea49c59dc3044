import { type Actor } from '#libs/kernel/events.js';
import { endsWithin } from '#libs/async/deadline.js';
import { nextReviewAt } from '#libs/workflow-runs/admission.js';
import { runDecider } from '#libs/workflow-runs/run-decider.js';
import { evolveRun, hasEnded, originOf } from '#libs/workflow-runs/run-state.js';
import { Committer } from '../committer.js';
import { type Invocation, type OnConflict } from '../invocation.js';
import { LaneIntake } from '../lane-intake.js';
import { type LaneState, laneStateOf } from '../lane-state.js';
import { type ExecutableRunner } from '../loaded-executables.js';
import { RunBook, type RunDraft } from './run-book.js';
import { replyAfter } from './run-replies.js';
import { type WorkflowState } from './run-turn.js';
import { steeringReply } from './steering-over-log.js';
import { cancelRuns, type CancelRunsOptions } from './cancel-runs.js';
import { completeStepDbs } from './step-dbs.js';
import { StepExecutions } from './step-executions.js';
import { WorkflowDecisions } from './workflow-decisions.js';
import { type Meaning, type WorkflowInput, isEvent, meaningOf } from './workflow-input.js';
import { Versions, admissionSettings, planOf } from './workflow-plan.js';
import { type StepEnd, type WorkflowRunnerDependencies } from './workflow-ports.js';
import { type LoadedRuns, loadRuns } from './workflow-state.js';

/** Longest time until a change of the settings acts on runs that wait for their turn. */
const REVIEW_MS = 1_000;

/**
 * Runs that wait for their first start, where no `queue_size` bounds them. Further events stay in the lane, whose length the
 * door bounds.
 */
const MOST_QUEUED = 1_000;

const NOTHING_ELSE = { invocation: undefined, committed: () => undefined } as const;

/**
 * Runs one workflow in this process. Each arrival becomes a run, and is acknowledged once the run is durable. The outcome
 * of a step and the start of the next are one commit.
 */
export class WorkflowRunner implements ExecutableRunner {
  private readonly intake: LaneIntake;
  private readonly versions: Versions;
  private readonly book: RunBook;
  private readonly committer: Committer<WorkflowState, WorkflowInput>;
  private readonly executions: StepExecutions;
  /** Events that are not runs yet, in lane order. The log bounds them by what is not acknowledged. */
  private readonly held: Invocation[] = [];
  private closed = false;
  private readonly ending = new AbortController();
  private review: NodeJS.Timeout | undefined;
  private waitingUntilIdle: (() => void)[] = [];

  private constructor(
    readonly workflowId: string,
    private readonly deps: WorkflowRunnerDependencies,
    lane: LaneState,
    { state, unconfirmed }: LoadedRuns,
    onConflict: OnConflict,
  ) {
    const { journal, due, metrics, logger } = deps;
    const { version, lastEventId } = lane;
    const intake = (this.intake = new LaneIntake(workflowId, journal, lane));
    const versions = (this.versions = new Versions(workflowId, deps));
    const book = (this.book = new RunBook(workflowId, journal));
    const onIdle = (): void => this.resumeIfIdle();
    this.committer = new Committer({
      executable: new WorkflowDecisions({
        workflowId,
        deps,
        book,
        versions,
        lastEventId,
        unconfirmed,
        onStored: (drafts, startsLater, steered) => {
          for (const each of steered) deps.replies.immediate(each.address, each.invocation, steeringReply(each));
          this.stored(drafts, startsLater);
        },
      }),
      deps: { journal, due, metrics, logger },
      version,
      state,
      lastEventId,
      tracker: intake.tracker,
      heard: intake.heard,
      onIdle,
      onConflict: (error) => onConflict(this.lostTo(error)),
    });
    this.executions = new StepExecutions({
      workflowId,
      deps,
      book,
      versions,
      onEnd: (run, execution, end) => this.executed(run, execution, end),
      onIdle,
    });
  }

  /** @param onConflict called when another process has committed, and this runner has ended. */
  static async load(
    workflowId: string,
    deps: WorkflowRunnerDependencies,
    onConflict: OnConflict,
  ): Promise<WorkflowRunner> {
    const lane = laneStateOf(await deps.journal.load({ executable: workflowId }));
    const runs = await loadRuns(workflowId, deps.journal, lane);
    await completeStepDbs(workflowId, deps.journal, runs.marked);
    const runner = new WorkflowRunner(workflowId, deps, lane, runs, onConflict);
    await runner.goOn(runs);
    return runner;
  }

  isClosed(): boolean {
    return this.closed;
  }

  /** Runs that wait need no runner: their alarms and resumes arrive by the lane. */
  retire(): boolean {
    const { queue, due } = this.committer.state.admission;
    const idle = this.intake.inFlight.size === 0 && this.isIdle() && this.book.size + queue.length + due.length === 0;
    if (idle) this.end();
    return idle;
  }

  async accept(invocations: readonly Invocation[]): Promise<boolean> {
    const seen = await this.intake.seen(invocations);
    if (this.closed) return false;
    for (const invocation of invocations) this.admit(invocation, seen);
    return true;
  }

  /** Starts no further step, and waits at most `withinMs` for those that execute. The next owner executes the others. */
  async close(withinMs?: number): Promise<void> {
    this.end();
    const idle = new Promise<void>((resolve) => {
      this.waitingUntilIdle.push(resolve);
      this.resumeIfIdle();
    });
    if (withinMs === undefined) await idle;
    else await endsWithin(idle, withinMs);
    this.abandon(new Error(`workflow ${this.workflowId} was released by this process`));
  }

  /**
   * Goes on with the runs that a former owner left. What follows from its end needs no write, because each owner decides
   * the same.
   */
  private async goOn({ running, ended }: LoadedRuns): Promise<void> {
    const now = this.deps.clock.now();
    for (const run of running) {
      const booked = await this.book.load(run);
      const { state } = booked;
      const origin = originOf(state);
      const plan = planOf(await this.versions.of(state, origin), origin.trigger);
      const execution = state.head.executions;
      const lost = { type: 'interrupt', now, execution, cause: 'owner', mayWait: true } as const;
      const facts = runDecider(plan).decide(lost, state);
      this.book.put(run, { ...booked, state: facts.reduce(evolveRun, state) });
      this.executions.start(run);
    }
    for (const run of ended) this.drop(run);
    this.reviewNow();
  }

  private admit(invocation: Invocation, seen: ReadonlySet<string>): void {
    const arrival = this.intake.admit(invocation, seen);
    if (arrival === 'ignored') return;
    if (arrival === 'new' && invocation.headers.kind === 'cancel_runs') this.cancelRuns(invocation);
    else if (arrival === 'new' && isEvent(invocation) && (this.held.length > 0 || this.isFull()))
      this.held.push(invocation);
    else if (arrival === 'new') this.push(invocation, meaningOf(invocation, this.deps.clock.now()));
    else this.push(invocation, { of: 'nothing' }, arrival === 'repeat');
  }

  private push(invocation: Invocation, meaning: Meaning, isRepeat = false): void {
    const committed = (): void => {
      this.intake.inFlight.remove(invocation);
      invocation.ack();
    };
    this.committer.push({ ...meaning, invocation, committed, ...(isRepeat ? { repeat: true } : {}) });
  }

  /** Acknowledges the request once every run is cancelled. The next owner of the lane begins anew. */
  private cancelRuns(invocation: Invocation): void {
    const { journal, clock, logger, metrics } = this.deps;
    const { workflowId } = this;
    const by = invocation.headers.by === undefined ? null : (JSON.parse(invocation.headers.by) as Actor);
    const selected = JSON.parse(invocation.record.value) as unknown;
    const runs = Array.isArray(selected) ? new Set(selected as readonly string[]) : undefined;
    const decide: CancelRunsOptions['decide'] = (inputs) =>
      new Promise((resolve) => {
        for (const input of inputs) this.committer.push({ of: 'run', ...input, ...NOTHING_ELSE });
        this.committer.push({ of: 'nothing', invocation: undefined, committed: () => resolve() });
      });
    const onFault = (error: unknown): void => {
      metrics.platformFailure();
      logger.error({ workflow: workflowId, error: String(error) }, 'runs.not_cancelled');
    };
    const { signal } = this.ending;
    void cancelRuns({ workflowId, journal, by, runs, now: () => clock.now(), decide, onFault, signal }).then(
      (isDone) => {
        if (isDone) this.push(invocation, { of: 'nothing' });
      },
    );
  }

  /** Whether as many runs wait for their first start as may. */
  private isFull(): boolean {
    const { concurrency, throttle } = admissionSettings(this.deps.workflows.find(this.workflowId));
    const isBounded = concurrency !== null || throttle !== null;
    return !isBounded && this.committer.state.admission.queue.length >= MOST_QUEUED;
  }

  private pushHeld(): void {
    if (this.held.length === 0 || this.closed || this.isFull()) return;
    for (const invocation of this.held.splice(0)) this.push(invocation, meaningOf(invocation, this.deps.clock.now()));
  }

  private executed(run: string, execution: number, end: StepEnd | 'interrupted'): void {
    const now = this.deps.clock.now();
    if (end === 'interrupted') {
      const lost = { type: 'interrupt', now, execution, cause: 'process', mayWait: true } as const;
      return this.committer.push({ of: 'run', run, input: lost, ...NOTHING_ELSE });
    }
    const { outcome, sends, triggers, dbChanges } = end;
    const input = { type: 'outcome', now, execution, outcome, mayWait: true } as const;
    this.committer.push({ of: 'run', run, input, sends, triggers, dbChanges, ...NOTHING_ELSE });
  }

  /** What follows once a commit is durable. */
  private stored(drafts: readonly RunDraft[], startsLater: readonly string[]): void {
    const now = this.deps.clock.now();
    for (const draft of drafts) {
      this.answer(draft);
      if (hasEnded(draft.state)) {
        this.executions.cancel(draft.run);
        this.drop(draft.run);
      } else if (!this.closed) this.executions.start(draft.run);
    }
    if (startsLater.length > 0) this.committer.push({ of: 'starts', runs: startsLater, now, ...NOTHING_ELSE });
    this.pushHeld();
    this.planReview();
  }

  private answer(draft: RunDraft): void {
    const reply = replyAfter(draft);
    const { caller } = originOf(draft.state);
    if (reply && caller) this.deps.replies.immediate(caller.address, caller.invocation, reply);
  }

  /** The history has the run from here on. A run that stays is dropped by the next owner. */
  private drop(run: string): void {
    const { journal, logger } = this.deps;
    journal
      .dropRun({ executable: this.workflowId, run })
      .catch((error: unknown) =>
        logger.warn({ workflow: this.workflowId, run, error: String(error) }, 'run.not_dropped'),
      );
  }

  /** Looks again at the runs that wait for their turn, when the throttle or changed settings may let them start. */
  private planReview(): void {
    if (this.review !== undefined || this.closed) return;
    const { admission } = this.committer.state;
    if (admission.queue.length + admission.due.length === 0) return;
    const now = this.deps.clock.now();
    const settings = admissionSettings(this.deps.workflows.find(this.workflowId));
    const next = nextReviewAt(settings, admission, now) ?? Infinity;
    const inMs = Math.max(1, Math.min(REVIEW_MS, next - now));
    this.review = setTimeout(() => {
      this.review = undefined;
      if (!this.closed) this.reviewNow();
    }, inMs).unref();
  }

  private reviewNow(): void {
    const { admission } = this.committer.state;
    if (admission.queue.length + admission.due.length === 0) return;
    this.committer.push({ of: 'review', now: this.deps.clock.now(), ...NOTHING_ELSE });
  }

  private isIdle(): boolean {
    return this.executions.isIdle && !this.committer.busy();
  }

  private resumeIfIdle(): void {
    if (!this.committer.abandonedFor && !this.isIdle()) return;
    for (const resume of this.waitingUntilIdle.splice(0)) resume();
  }

  /** Ends the runner after another process has committed. Returns the invocations in flight, in lane order. */
  private lostTo(conflict: Error): readonly Invocation[] {
    const unfinished = this.intake.inFlight.clear();
    this.abandon(conflict);
    return unfinished;
  }

  private end(): void {
    this.closed = true;
    this.ending.abort();
    clearTimeout(this.review);
  }

  private abandon(reason: Error): void {
    this.end();
    this.executions.stop();
    this.intake.inFlight.clear();
    this.committer.abandon(reason);
    this.resumeIfIdle();
  }
}
