import { type Clock } from '../kernel/clock.js';
import { type HookRequest, readHookRequest, readOperationEnd, type OperationEnd } from './hook-invocation.js';
import { type Invocation } from './run-commit.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import { type RunOutcome } from '../sandbox/sandbox.js';

/** Operations that the queue needs from the source's runner. */
export interface HookHost {
  /** Resolves when the hook's results are durable. Rejects when the platform failed or this process lost the source. */
  performHook(invocation: Invocation, request: HookRequest, timeoutMs: number): Promise<void>;
  finishWithoutRun(invocation: Invocation): void;
  /** Returns to the definition in the event log. */
  operationEnded(): void;
  /** True when no more hooks may start. */
  isClosed(): boolean;
}

type TurnDependencies = Pick<
  SourceRunnerDependencies,
  'clock' | 'follower' | 'logger' | 'metrics' | 'replies' | 'settings'
>;

const RETRY_MS = [100, 300, 1_000, 3_000];
/** Least time before its deadline that a hook needs to be started. */
const LEAST_MS = 100;
/** Time to wait for the event log before checking again whether the runner is closed. */
const FOLLOW_MS = 1_000;

/**
 * Runs the hooks that arrive over the lane one after the other, beside the runs. The end of an operation takes its turn
 * among them. A hook whose process dies arrives again with the lane. A hook past its deadline does not run.
 */
export class HookQueue {
  private last: Promise<void> = Promise.resolve();
  private pending = 0;

  constructor(
    private readonly sourceId: string,
    private readonly deps: TurnDependencies,
    private readonly host: HookHost,
  ) {}

  idle(): boolean {
    return this.pending === 0;
  }

  /** Resolves when all hooks queued so far have ended. */
  ended(): Promise<void> {
    return this.last;
  }

  hook(invocation: Invocation): void {
    const request = readHookRequest(invocation.record.value);
    if (request) this.turn(() => this.run(invocation, request));
    else this.malformed(invocation);
  }

  /** Finishes the invocation at once, because the override that it ends dies with this process. */
  operationEnded(invocation: Invocation): void {
    const operationEnd = readOperationEnd(invocation.record.value);
    if (!operationEnd) return this.malformed(invocation);
    this.turn(() => this.settle(operationEnd));
    this.host.finishWithoutRun(invocation);
  }

  private turn(act: () => Promise<void>): void {
    // Starts at once on an empty queue, so that later records of the lane run with the hook's definition.
    const turn = this.pending++ === 0 ? act() : this.last.then(act);
    this.last = turn.finally(() => this.pending--);
  }

  private async run(invocation: Invocation, request: HookRequest): Promise<void> {
    const { clock, settings } = this.deps;
    for (let attempt = 0; !this.host.isClosed(); attempt++) {
      const left = request.deadline - clock.now();
      if (left < LEAST_MS) return this.skip(invocation, request);
      try {
        return await this.host.performHook(invocation, request, Math.min(left, settings.hookTimeoutMs));
      } catch (error) {
        if (this.host.isClosed()) return;
        await this.failed(error, 'hook.start_failed', attempt);
      }
    }
  }

  private async settle({ position }: OperationEnd): Promise<void> {
    for (let attempt = 0; !this.host.isClosed(); attempt++) {
      try {
        if (!(await this.deps.follower.waitFor(position, FOLLOW_MS))) continue;
        return this.host.operationEnded();
      } catch (error) {
        await this.failed(error, 'hook.not_settled', attempt);
      }
    }
  }

  private async failed(error: unknown, message: string, attempt: number): Promise<void> {
    this.deps.metrics.platformFailure();
    this.deps.logger.error({ source: this.sourceId, attempt, error: String(error) }, message);
    const pause = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)];
    await new Promise<void>((resolve) => setTimeout(resolve, pause).unref());
  }

  /** Skips a hook whose caller has given up. If the caller still waits, the clocks differ, and the reply says so. */
  private skip(invocation: Invocation, { hook, deadline }: HookRequest): void {
    const { clock, logger, replies } = this.deps;
    const { id, respond } = invocation.headers;
    const fields = { source: this.sourceId, invocation: id, hook, deadline, now: clock.now() };
    logger.warn(fields, 'hook.too_late: not run; do the clocks of the machines agree?');
    if (respond !== '') replies.ended(respond, id, tooLate(hook, deadline, clock), 'outcome');
    this.host.finishWithoutRun(invocation);
  }

  private malformed(invocation: Invocation): void {
    const { id, kind } = invocation.headers;
    this.deps.logger.error({ source: this.sourceId, invocation: id, kind }, 'invocation.malformed');
    this.host.finishWithoutRun(invocation);
  }
}

const tooLate = (hook: string, deadline: number, clock: Clock): RunOutcome => {
  const now = clock.now();
  const at = (time: number): string => new Date(time).toISOString();
  const message = `hook ${hook} was not run: its deadline was ${at(deadline)}, and the runner's clock says ${at(now)}`;
  const error = { name: 'HookTooLate', message, stack: '', code: 'HookTooLate' };
  return { status: 'killed', error, emits: [], logs: [], dbChanges: {}, startedAt: now, endedAt: now };
};
