import { type Replies } from '../runtime/runner-ports.js';
import { type HttpReply } from '../runtime/sandbox.js';

/** Brings a run's reply back to the request that waits for it, in one process. */
export class ResponseRelay implements Replies {
  private readonly waiting = new Map<string, (reply: HttpReply) => void>();

  /** Resolves with the reply, or undefined after `timeoutMs`. To be called before the invocation is published. */
  expect(invocationId: string, timeoutMs: number): Promise<HttpReply | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.end(invocationId, () => resolve(undefined)), timeoutMs);
      this.waiting.set(invocationId, (reply) => {
        clearTimeout(timer);
        this.end(invocationId, () => resolve(reply));
      });
    });
  }

  /** The first reply wins; one that nobody waits for is dropped. */
  deliver(invocationId: string, reply: HttpReply): void {
    this.waiting.get(invocationId)?.(reply);
  }

  /** Nobody waits any more. */
  cancel(invocationId: string): void {
    this.waiting.get(invocationId)?.({ status: 503, headers: {}, body: '', base64: false });
  }

  private end(invocationId: string, resolve: () => void): void {
    this.waiting.delete(invocationId);
    resolve();
  }
}
