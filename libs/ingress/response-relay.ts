import { InFlightMap } from '#libs/kernel/in-flight-map.js';
import { replyOf, type RunOutcome } from '#libs/sandbox/index.js';
import { type Replies } from '#libs/runner/runner-ports.js';
import { type HttpReply } from '#libs/component-model/run-output.js';

type Waiting = { readonly reply: (reply: HttpReply) => void } | { readonly outcome: (outcome: RunOutcome) => void };

/** Address of a caller that waits in the process of the runner. */
const IN_PROCESS = 'here';

/**
 * Passes the outcome of a run to the request that waits for it. In one process it is the runner's `Replies`; across
 * processes it is the receiving end of a reply channel.
 */
export class ResponseRelay implements Replies {
  private readonly waiting = new InFlightMap<string, Waiting>();
  private readonly timers = new InFlightMap<string, { timer: NodeJS.Timeout; giveUp: () => void }>();

  /** @param address value of the `respond` header of invocations whose caller waits here. */
  constructor(readonly address: string = IN_PROCESS) {}

  /**
   * Resolves with the reply for the caller, or undefined after `timeoutMs`. Call it before publishing the invocation.
   */
  expect(invocationId: string, timeoutMs: number): Promise<HttpReply | undefined> {
    return this.wait(invocationId, timeoutMs, (resolve) => ({ reply: resolve }));
  }

  /** Like `expect`, for the whole outcome of the run. */
  expectOutcome(invocationId: string, timeoutMs: number): Promise<RunOutcome | undefined> {
    return this.wait(invocationId, timeoutMs, (resolve) => ({ outcome: resolve }));
  }

  immediate(address: string, invocationId: string, reply: HttpReply): void {
    if (address === this.address) this.replied(invocationId, reply);
  }

  ended(address: string, invocationId: string, outcome: RunOutcome): void {
    const waiting = address === this.address ? this.waiting.get(invocationId) : undefined;
    if (!waiting) return;
    if ('reply' in waiting) return this.replied(invocationId, replyOf(outcome, invocationId));
    this.forget(invocationId);
    waiting.outcome(outcome);
  }

  /** Passes the reply to the caller of an endpoint. Drops it when no caller waits for this invocation any more. */
  replied(invocationId: string, reply: HttpReply): void {
    const waiting = this.waiting.get(invocationId);
    if (!waiting || !('reply' in waiting)) return;
    this.forget(invocationId);
    waiting.reply(reply);
  }

  /** Ends the wait, which resolves with undefined. Idempotent. */
  cancel(invocationId: string): void {
    const entry = this.timers.get(invocationId);
    this.forget(invocationId);
    entry?.giveUp();
  }

  private wait<T>(
    invocationId: string,
    timeoutMs: number,
    waitingFor: (resolve: (value: T | undefined) => void) => Waiting,
  ): Promise<T | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.cancel(invocationId), timeoutMs);
      this.timers.set(invocationId, { timer, giveUp: () => resolve(undefined) });
      this.waiting.set(invocationId, waitingFor(resolve));
    });
  }

  private forget(invocationId: string): void {
    clearTimeout(this.timers.delete(invocationId)?.timer);
    this.waiting.delete(invocationId);
  }
}
