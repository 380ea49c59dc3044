import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { type StepUrls } from '#libs/component-model/step-run.js';
import { userError } from '#libs/sandbox/index.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { draftDiscarded } from '#libs/workflow-runs/run-limits.js';
import { type AttemptUrls, type Execution, executingNow, nextExecution } from '#libs/workflow-runs/next-execution.js';
import { PARTS, type RunState, originOf } from '#libs/workflow-runs/run-state.js';
import { type LiveLines, linesRecord } from '#libs/stream-log/line-records.js';
import { hostEndedError } from '../host-deaths.js';
import { Inflight } from './inflight.js';
import { type RunBook } from './run-book.js';
import { runContext, stepContext } from './run-context.js';
import { readStepDb } from './step-dbs.js';
import { StepInputs } from './step-inputs.js';
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

/** An execution that goes on here. */
interface Going {
  readonly run: string;
  readonly number: number;
  readonly ending: AbortSignal;
}

/** Executes the current steps of the runs of one workflow. */
export class StepExecutions {
  private readonly inflight: Inflight;
  private readonly inputs: StepInputs;
  private readonly stopping = new AbortController();

  constructor(private readonly options: StepExecutionsOptions) {
    this.inflight = new Inflight(options.deps.hostDeaths);
    this.inputs = new StepInputs();
  }

  get isIdle(): boolean {
    return this.inflight.isIdle;
  }

  /** Executes nothing more. What goes on ends without an outcome. */
  stop(): void {
    this.stopping.abort();
    this.inflight.releaseAll();
  }

  /** Executes what a run must execute now, unless that goes on. What it executed before is durable. */
  start(run: string): void {
    const state = this.options.book.get(run);
    const numbers = state ? executingNow(state) : [];
    this.inflight.releaseOthers(run, numbers);
    if (this.stopping.signal.aborted) return;
    for (const number of numbers) {
      const ending = this.inflight.begin(run, number);
      if (!ending) continue;
      void this.execute(run, number, ending.signal).finally(() => {
        this.inflight.end(run, number, ending);
        if (this.isIdle) this.options.onIdle();
      });
    }
  }

  /** Ends what a run that has ended still executes, unless its code ends soon. */
  cancel(run: string): void {
    this.inflight.abort(run);
    this.inflight.releaseOthers(run, []);
  }

  /** Tries until there is an outcome, because a failure here is one of the platform. */
  private async execute(run: string, number: number, ending: AbortSignal): Promise<void> {
    const { deps, onEnd, workflowId } = this.options;
    const { signal } = this.stopping;
    const backoff = new Backoff({ firstMs: 100, longestMs: 5_000 });
    while (!signal.aborted) {
      // It was cancelled, or goes on elsewhere.
      const state = this.options.book.get(run);
      if (!state || !executingNow(state).includes(number)) return;
      try {
        const end = await this.endOf({ run, number, ending }, state);
        if (end && !signal.aborted) {
          this.inflight.end(run, number);
          onEnd(run, number, end);
        }
        return;
      } catch (error) {
        this.inflight.release(run, number);
        deps.metrics.platformFailure();
        deps.logger.error({ workflow: workflowId, run, error: String(error) }, 'step.start_failed');
        await pause(backoff.next(), signal);
      }
    }
  }

  private async endOf({ run, number, ending }: Going, state: RunState): Promise<StepEnd | 'interrupted' | undefined> {
    const { deps, versions, workflowId } = this.options;
    const { clock, journal, steps, metrics } = deps;
    const origin = originOf(state);
    const version = await versions.of(state, origin);
    if (version.isGone) return { outcome: { kind: 'failed', result: NO_RESULT, error: draftDiscarded() }, sends: [] };
    const plan = planOf(version, origin.trigger);
    const execution = nextExecution(plan, state, number);
    const step = version.steps.find(({ namespace }) => namespace === execution?.namespace);
    if (!execution || !step) return undefined;
    const deaths = await this.inflight.note(run, number, () => ending.aborted || this.stopping.signal.aborted);
    if (ending.aborted || this.stopping.signal.aborted) return undefined;
    if (deaths !== undefined)
      return { outcome: { kind: 'failed', result: NO_RESULT, error: hostEndedError(deaths) }, sends: [] };
    if (clock.now() >= execution.deadline) return timedOut(execution);
    const startedAt = clock.now();
    const db = hasDb(step) ? { db: await readStepDb(journal, workflowId, step.id) } : {};
    const outside = { attemptUrls: this.attemptUrls(state), trigger: () => this.triggerText(state) };
    const end = await steps.call({
      ...this.surroundings(state, execution),
      step,
      execution,
      ...this.inputs.of(plan, state, execution, outside),
      stretchMs: plan.timeoutSeconds * 1_000,
      memoryMb: (version.version === null ? version : (deps.workflows.find(workflowId) ?? version)).settings.memoryMb,
      mostMs: Math.max(1, execution.mostDeadline - startedAt),
      ...db,
      signal: ending,
    });
    if (end === 'interrupted') return end;
    const status = end.outcome.kind === 'failed' ? 'threw' : 'ok';
    metrics.run(status, origin.ownerId, Math.max(0, clock.now() - startedAt));
    return end;
  }

  private surroundings(
    state: RunState,
    execution: Execution,
  ): Omit<StepRequest, 'step' | 'execution' | 'steps' | 'stretchMs' | 'memoryMb' | 'mostMs' | 'signal'> {
    const { workflowId, deps } = this.options;
    const { ownerId, test, hasCaller, caller } = originOf(state);
    return {
      workspaceId: ownerId,
      workflowId,
      context: stepContext(this.contextOf(state), execution, test),
      hasCaller: hasCaller && !state.head.reply,
      test,
      urls: test || execution.item !== undefined ? null : this.urlsOf(state, execution.number),
      onReply: (reply: HttpReply) => {
        if (caller) deps.replies.immediate(caller.address, caller.invocation, reply);
      },
      onTrigger: askTrigger(deps.workflows, originOf(state), execution.number),
      onLines: (from, lines) => this.tell(state, execution, { from, lines }),
    };
  }

  /** The outcome has the lines too, so those that cannot be told now are not lost. */
  private async tell(
    state: RunState,
    { namespace, item }: Execution,
    told: Pick<LiveLines, 'from' | 'lines'>,
  ): Promise<void> {
    const { deps, workflowId } = this.options;
    try {
      await deps.log.publish([
        linesRecord(deps.topics, workflowId, { runId: originOf(state).id, namespace, item: item ?? null, ...told }),
      ]);
    } catch (error) {
      deps.logger.debug({ workflow: workflowId, error: String(error) }, 'step.lines_not_told');
    }
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

const timedOut = ({ namespace }: Execution): StepEnd => ({
  outcome: {
    kind: 'failed',
    result: NO_RESULT,
    error: userError('Timeout', `step ${namespace} did not end within the time of its workflow`),
  },
  sends: [],
});
