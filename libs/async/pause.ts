import { setMaxListeners } from 'node:events';

/**
 * Resolves after `ms` milliseconds, or at once when the signal aborts; the caller checks the signal. Never rejects. The
 * timer does not keep the process alive when `ref` is false.
 */
export const pause = (
  ms: number,
  signal?: AbortSignal,
  { ref = true }: { readonly ref?: boolean } = {},
): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (!ref) timer.unref();
    if (!signal) return;
    // Many pauses may share the signal of their process, so each removes its listener.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', end);
  });

/** A pause that `wake` ends. One caller waits at a time. */
export class WakeablePause {
  private resume: (() => void) | undefined;
  private woken = false;

  /** Resolves after `ms` milliseconds (without `ms`: never on its own), or when `wake` is called. */
  async wait(ms?: number): Promise<void> {
    if (!this.woken) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.resume = resolve;
        if (ms !== undefined) timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
      this.resume = undefined;
    }
    this.woken = false;
  }

  /** Ends the current wait or, without one, the next. */
  wake(): void {
    this.woken = true;
    this.resume?.();
  }
}
