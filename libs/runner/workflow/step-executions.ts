import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { type StepUrls } from '#libs/component-model/step-run.js';
import { type UserError } from '#libs/component-model/run-output.js';
import { userError } from '#libs/sandbox/index.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { type AttemptUrls, type Execution, nextExecution, stepTexts } from '#libs/workflow-runs/next-execution.js';
import { STRETCH_MS } from '#libs/workflow-runs/run-limits.js';
import { PARTS, type RunState, originOf } from '#libs/workflow-runs/run-state.js';
import { hostEndedError } from '../host-deaths.js';
import { type RunBook, pinnedTo } from './run-book.js';
import { runContext, stepContext } from './run-context.js';
import { readStepDb } from './step-dbs.js';
import { askTrigger } from './step-triggers.js';
import { type Versions, planOf } from './workflow-plan.js';
import {
  type DeployedStep,
  type StepEnd,
  type StepRequest,
  type WorkflowRunnerDependencies,
} from './workflow-ports.js';

export interface StepExecutionsOptions {
  readonly workflowId: string;
  readonly deps: WorkflowRunnerDependencies;
  readonly book: RunBook;
  readonly versions: Versions;
  /** Called with the end of an execution. */
  readonly onEnd: (run: string, execution: number, end: StepEnd | 'interrupted') => void;
  /** Called when nothing executes any more. */
  readonly onIdle: () => void;
}

/** Executes the current steps of the runs of one workflow. */
export class StepExecutions {
  /** The execution that goes on, by run. */
  private readonly running = new Map<string, { readonly number: number; readonly ending: AbortController }>();
  /** Runs whose execution began here, and is not durable yet. */
  private readonly noted = new Set<string>();
  private readonly stopping = new AbortController();

  constructor(private readonly options: StepExecutionsOptions) {}

  get isIdle(): boolean {
    return this.running.size === 0;
  }

  /** Executes nothing more. What goes on ends without an outcome. */
  stop(): void {
    this.stopping.abort();
    for (const run of this.noted) this.release(run);
  }

  /** Executes what a run must execute now, unless that goes on. What it executed before is durable. */
  start(run: string): void {
    const state = this.options.book.get(run);
    if (!state || this.stopping.signal.aborted) return;
    const number = state.head.executions;
    if (this.running.get(run)?.number === number) return;
    this.release(run);
    const execution = { number, ending: new AbortController() };
    this.running.set(run, execution);
    void this.execute(run, number, execution.ending.signal).finally(() => {
      if (this.running.get(run) === execution) this.running.delete(run);
      if (this.isIdle) this.options.onIdle();
    });
  }

  /** Ends what a run that has ended still executes, unless its code ends soon. */
  cancel(run: string): void {
    this.running.get(run)?.ending.abort();
    this.release(run);
  }

  /** Tries until there is an outcome, because a failure here is one of the platform. */
  private async execute(run: string, number: number, ending: AbortSignal): Promise<void> {
    const { deps, onEnd, workflowId } = this.options;
    const { signal } = this.stopping;
    const backoff = new Backoff({ firstMs: 100, longestMs: 5_000 });
    while (!signal.aborted) {
      // It was cancelled, or goes on elsewhere.
      const state = this.options.book.get(run);
      if (state?.head.executions !== number) return;
      try {
        const end = await this.endOf(run, state, ending);
        if (end && !signal.aborted) {
          this.running.delete(run);
          onEnd(run, number, end);
        }
        return;
      } catch (error) {
        this.release(run);
        deps.metrics.platformFailure();
        deps.logger.error({ workflow: workflowId, run, error: String(error) }, 'step.start_failed');
        await pause(backoff.next(), signal);
      }
    }
  }

  private async endOf(run: string, state: RunState, ending: AbortSignal): Promise<StepEnd | 'interrupted' | undefined> {
    const { deps, versions, workflowId } = this.options;
    const { clock, journal, steps, metrics } = deps;
    const deploymentId = pinnedTo(state);
    if (deploymentId === undefined) return undefined;
    const version = await versions.get(deploymentId);
    const origin = originOf(state);
    const plan = planOf(version, origin.trigger);
    const execution = nextExecution(plan, state);
    const step = version.steps.find(({ namespace }) => namespace === execution?.namespace);
    if (!execution || !step) return undefined;
    const givenUp = await this.note(run);
    if (ending.aborted || this.stopping.signal.aborted) return undefined;
    if (givenUp) return { outcome: { kind: 'failed', result: NO_RESULT, error: givenUp }, sends: [] };
    if (clock.now() >= execution.deadline) return timedOut(execution);
    const startedAt = clock.now();
    const db = hasDb(step) ? { db: await readStepDb(journal, workflowId, step.id) } : {};
    const texts = Object.fromEntries(stepTexts(plan, state, this.attemptUrls(state)));
    const end = await steps.call({
      ...this.surroundings(state, execution),
      step,
      execution,
      steps: { ...texts, trigger: this.triggerText(state) },
      stretchMs: plan.timeoutSeconds * 1_000,
      mostMs: mostMsOf(state, step, execution, startedAt),
      ...db,
      signal: ending,
    });
    if (end === 'interrupted') return end;
    const status = end.outcome.kind === 'failed' ? 'threw' : 'ok';
    metrics.run(status, origin.ownerId, Math.max(0, clock.now() - startedAt));
    return end;
  }

  /**
   * Notes that a run is about to execute. A suspect of killing the server executes alone, and others wait for its end.
   * Resolves to an error when the run is not tried again (docs/reference/limits.md#host-deaths).
   */
  private async note(run: string): Promise<UserError | undefined> {
    const { hostDeaths } = this.options.deps;
    if (hostDeaths.isSuspect(run)) {
      const deaths = hostDeaths.deathsOf(run);
      const verdict = await hostDeaths.alone(run);
      this.noted.add(run);
      if (this.hasLeft(run)) this.release(run);
      return verdict === 'run' ? undefined : hostEndedError(deaths);
    }
    for (let blocked = hostDeaths.blocked(); blocked; blocked = hostDeaths.blocked()) await blocked;
    if (this.hasLeft(run)) return undefined;
    hostDeaths.begin([run]);
    this.noted.add(run);
    return undefined;
  }

  /** Whether a run was cancelled, or this process released it, while it waited for its turn. */
  private hasLeft(run: string): boolean {
    return this.stopping.signal.aborted || this.running.get(run)?.ending.signal.aborted !== false;
  }

  private release(run: string): void {
    if (this.noted.delete(run)) this.options.deps.hostDeaths.end(run);
  }

  private surroundings(
    state: RunState,
    execution: Execution,
  ): Omit<StepRequest, 'step' | 'execution' | 'steps' | 'stretchMs' | 'mostMs' | 'signal'> {
    const { workflowId, deps } = this.options;
    const { ownerId, test, hasCaller, caller } = originOf(state);
    return {
      workspaceId: ownerId,
      workflowId,
      context: stepContext(this.contextOf(state), execution, test),
      hasCaller: hasCaller && !state.head.reply,
      test,
      urls: test ? null : this.urlsOf(state, state.head.executions),
      onReply: (reply: HttpReply) => {
        if (caller) deps.replies.immediate(caller.address, caller.invocation, reply);
      },
      onTrigger: askTrigger(deps.workflows, originOf(state), state.head.executions),
    };
  }

  private urlsOf(state: RunState, execution: number): StepUrls {
    const { deps, workflowId } = this.options;
    return deps.urls({ workflowId, runId: originOf(state).id, execution });
  }

  /** What `$attempt` names of the attempt before this one. */
  private attemptUrls(state: RunState): AttemptUrls | undefined {
    if (state.head.position?.attempt === 1 || originOf(state).test) return undefined;
    const { cancel_url, resume_url } = this.urlsOf(state, state.head.executions - 1);
    return { cancel_url, rerun_url: resume_url };
  }

  private contextOf(state: RunState) {
    const { workflowId, deps } = this.options;
    return runContext(state, deps.workflows.find(workflowId)?.name ?? '');
  }

  private triggerText(state: RunState): string {
    const event = state.parts[PARTS.event] ?? 'null';
    return `{"event":${event},"context":${JSON.stringify(this.contextOf(state))}}`;
  }
}

const hasDb = ({ definition }: DeployedStep): boolean => definition.props.some(({ kind }) => kind === 'db');

/** A step's own limit cannot be extended, and a stretch only up to its own. */
const mostMsOf = ({ head }: RunState, step: DeployedStep, { deadline }: Execution, now: number): number =>
  Math.max(1, (step.timeoutSeconds === null ? (head.stretch?.startedAt ?? now) + STRETCH_MS : deadline) - now);

const timedOut = ({ namespace }: Execution): StepEnd => ({
  outcome: {
    kind: 'failed',
    result: NO_RESULT,
    error: userError('Timeout', `step ${namespace} did not end within the time of its workflow`),
  },
  sends: [],
});
