import { Backoff, type BackoffOptions } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type HookRequest, readHookRequest, readOperationEnd, type OperationEnd } from './hook-invocation.js';
import { type HookExecutor } from './hook-executor.js';
import { type Invocation } from '../invocation.js';
import { type RunFinisher } from './run-finisher.js';
import { type SourceRunnerDependencies } from '../runner-ports.js';
import { type RunOutcome } from '#libs/sandbox/index.js';

export interface HookQueueOptions {
  readonly sourceId: string;
  readonly deps: Pick<
    SourceRunnerDependencies,
    'callers' | 'clock' | 'follower' | 'logger' | 'metrics' | 'replies' | 'settings'
  >;
  readonly hooks: Pick<HookExecutor, 'run'>;
  readonly finisher: Pick<RunFinisher, 'acknowledge' | 'finishWithoutRun'>;
  /** Called to return to the definition in the event log. */
  readonly operationEnded: () => void;
  /** True when no more hooks may start. */
  readonly isClosed: () => boolean;
}

const RETRY: BackoffOptions = { firstMs: 100, longestMs: 3_000 };
/** Least time before its deadline at which a hook may start. */
const LEAST_MS = 100;
/** Time to wait for the event log before checking again whether the runner is closed. */
const FOLLOW_MS = 1_000;

/**
 * Runs the hooks that arrive on the lane one after the other, beside the runs. The end of an operation waits in the
 * same queue. A hook whose process dies is redelivered with the lane. A hook past its deadline does not run.
 */
export class HookQueue {
  private readonly queue = new SerialQueue();

  constructor(private readonly options: HookQueueOptions) {}

  isIdle(): boolean {
    return this.queue.size === 0;
  }

  /** Resolves when all hooks queued so far have ended. */
  idle(): Promise<void> {
    return this.queue.idle();
  }

  /** Queues a hook. On an empty queue it starts at once, so that later records of the lane run with its definition. */
  enqueue(invocation: Invocation): void {
    const request = readHookRequest(invocation.record.value);
    if (request) void this.queue.run(() => this.run(invocation, request));
    else this.malformed(invocation);
  }

  /** Queues the end of an operation. Finishes the invocation at once, because the override dies with this process. */
  enqueueEnd(invocation: Invocation): void {
    const operationEnd = readOperationEnd(invocation.record.value);
    if (!operationEnd) return this.malformed(invocation);
    void this.queue.run(() => this.endOperation(operationEnd));
    this.options.finisher.finishWithoutRun(invocation);
  }

  private async run(invocation: Invocation, request: HookRequest): Promise<void> {
    const { callers, settings } = this.options.deps;
    const backoff = new Backoff(RETRY);
    while (!this.options.isClosed()) {
      try {
        if (this.timeLeft(invocation, request) === undefined) await callers?.look();
        if (this.options.isClosed()) return;
        const left = this.timeLeft(invocation, request) ?? 0;
        if (left < LEAST_MS) return this.skip(invocation, request, left);
        return await this.runOnce(invocation, request, Math.min(left, settings.hookTimeoutMs));
      } catch (error) {
        if (this.options.isClosed()) return;
        await this.failed(error, 'hook.start_failed', backoff);
      }
    }
  }

  /** Returns how long the caller still waits, in ms; undefined when its process is unknown. */
  private timeLeft({ headers }: Invocation, { deadline, untilUptimeMs }: HookRequest): number | undefined {
    const { callers, clock } = this.options.deps;
    if (!callers) return deadline - clock.now();
    const uptimeMs = callers.uptimeOf(headers.respond);
    return uptimeMs === undefined ? undefined : untilUptimeMs - uptimeMs;
  }

  private async runOnce(invocation: Invocation, { hook, definition }: HookRequest, timeoutMs: number): Promise<void> {
    const { id, workspace, respond } = invocation.headers;
    const call = { hook, definition, workspaceId: workspace, executionId: id, timeoutMs };
    const outcome = await this.options.hooks.run(call, invocation);
    if (respond !== '') this.options.deps.replies.ended(respond, id, outcome, 'outcome');
    this.options.finisher.acknowledge(invocation);
  }

  /** Ends the override once the event log has been read up to the end of the operation. */
  private async endOperation({ position }: OperationEnd): Promise<void> {
    const backoff = new Backoff(RETRY);
    while (!this.options.isClosed()) {
      try {
        if (!(await this.options.deps.follower.waitFor(position, FOLLOW_MS))) continue;
        return this.options.operationEnded();
      } catch (error) {
        await this.failed(error, 'hook.not_settled', backoff);
      }
    }
  }

  private async failed(error: unknown, message: string, backoff: Backoff): Promise<void> {
    this.options.deps.metrics.platformFailure();
    this.options.deps.logger.error(
      { source: this.options.sourceId, attempt: backoff.count, error: String(error) },
      message,
    );
    await pause(backoff.next(), undefined, { ref: false });
  }

  /** Skips a hook whose caller has stopped waiting, is about to, or has died. */
  private skip(invocation: Invocation, { hook }: HookRequest, leftMs: number): void {
    const { clock, logger, replies } = this.options.deps;
    const { id, respond } = invocation.headers;
    const fields = { source: this.options.sourceId, invocation: id, hook, leftMs: Math.round(leftMs) };
    logger.warn(fields, 'hook.too_late: not run, because its caller waits no more');
    if (respond !== '') replies.ended(respond, id, tooLate(hook, leftMs, clock), 'outcome');
    this.options.finisher.finishWithoutRun(invocation);
  }

  private malformed(invocation: Invocation): void {
    const { id, kind } = invocation.headers;
    this.options.deps.logger.error({ source: this.options.sourceId, invocation: id, kind }, 'invocation.malformed');
    this.options.finisher.finishWithoutRun(invocation);
  }
}

const tooLate = (hook: string, leftMs: number, clock: Clock): RunOutcome => {
  const now = clock.now();
  const left =
    leftMs > 0 ? `only ${Math.round(leftMs)} ms were left` : `its time was over ${Math.round(-leftMs)} ms ago`;
  const message = `hook ${hook} was not run: when a runner had it, ${left}`;
  const error = { name: 'HookTooLate', message, stack: '', code: 'HookTooLate' };
  return { status: 'killed', error, emits: [], logs: [], dbChanges: {}, startedAt: now, endedAt: now };
};
