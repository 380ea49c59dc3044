import { replyOf } from '../runtime/reply-of.js';
import { type Replies } from '../runtime/runner-ports.js';
import { type HttpReply, type RunOutcome } from '../runtime/sandbox.js';

type Waiting = { readonly reply: (reply: HttpReply) => void } | { readonly outcome: (outcome: RunOutcome) => void };

/** Brings the end of a run back to the request that waits for it, in one process. */
export class ResponseRelay implements Replies {
  private readonly waiting = new Map<string, Waiting>();
  private readonly timers = new Map<string, { timer: NodeJS.Timeout; giveUp: () => void }>();

  /** Resolves with what the caller is to get, or undefined after `timeoutMs`. Call it before the invocation is published. */
  expect(invocationId: string, timeoutMs: number): Promise<HttpReply | undefined> {
    return this.wait(invocationId, timeoutMs, (resolve) => ({ reply: resolve }));
  }

  /** The same for the whole outcome of the run. */
  expectOutcome(invocationId: string, timeoutMs: number): Promise<RunOutcome | undefined> {
    return this.wait(invocationId, timeoutMs, (resolve) => ({ outcome: resolve }));
  }

  immediate(invocationId: string, reply: HttpReply): void {
    const waiting = this.waiting.get(invocationId);
    if (!waiting || !('reply' in waiting)) return;
    this.forget(invocationId);
    waiting.reply(reply);
  }

  ended(invocationId: string, outcome: RunOutcome): void {
    const waiting = this.waiting.get(invocationId);
    if (!waiting) return;
    this.forget(invocationId);
    if ('reply' in waiting) waiting.reply(replyOf(outcome));
    else waiting.outcome(outcome);
  }

  /** Nobody waits any more: resolves with undefined. Idempotent. */
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
    clearTimeout(this.timers.get(invocationId)?.timer);
    this.timers.delete(invocationId);
    this.waiting.delete(invocationId);
  }
}
