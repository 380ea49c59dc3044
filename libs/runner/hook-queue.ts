import { type Clock } from '../kernel/clock.js';
import { type HookRequest, readHookRequest, readOperationEnd, type OperationEnd } from './hook-invocation.js';
import { type Invocation } from './run-commit.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import { type RunOutcome } from '../sandbox/sandbox.js';

/** What turns ask of the runner of the source. */
export interface HookHost {
  /** Resolves when what the hook left is durable. Rejects when the platform failed, or this process lost the source. */
  performHook(invocation: Invocation, request: HookRequest, timeoutMs: number): Promise<void>;
  finishWithoutRun(invocation: Invocation): void;
  /** The definition of the event log is in force again. */
  operationEnded(): void;
  /** True when nothing more may be started. */
  isClosed(): boolean;
}

type TurnDependencies = Pick<
  SourceRunnerDependencies,
  'clock' | 'follower' | 'logger' | 'metrics' | 'replies' | 'settings'
>;

const RETRY_MS = [100, 300, 1_000, 3_000];
/** A hook that has less time left than this is not begun. */
const LEAST_MS = 100;
/** How long it waits for the event log at a time before it looks whether it is to end. */
const FOLLOW_MS = 1_000;

/**
 * Hooks that come over the lane, one after the other, beside the runs; what settles an operation takes its turn among
 * them. A hook whose process dies comes again with the lane; one that came too late is not run at all.
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

  /** Resolves when the turns taken so far are over. */
  ended(): Promise<void> {
    return this.last;
  }

  hook(invocation: Invocation): void {
    const request = readHookRequest(invocation.record.value);
    if (request) this.turn(() => this.run(invocation, request));
    else this.malformed(invocation);
  }

  /** Done at once: with this process goes the override that it is to end. */
  operationEnded(invocation: Invocation): void {
    const operationEnd = readOperationEnd(invocation.record.value);
    if (!operationEnd) return this.malformed(invocation);
    this.turn(() => this.settle(operationEnd));
    this.host.finishWithoutRun(invocation);
  }

  private turn(act: () => Promise<void>): void {
    // At once when none is under way: what comes behind a hook in the lane is to run with the hook's definition.
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

  /** Who asked has given up. If it has not, the two clocks differ, and it is told so. */
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
  const message = `hook ${hook} was to be over by ${at(deadline)}, and the runner's clock says ${at(now)}: it was not run`;
  const error = { name: 'HookTooLate', message, stack: '', code: 'HookTooLate' };
  return { status: 'killed', error, emits: [], logs: [], dbChanges: {}, startedAt: now, endedAt: now };
};
