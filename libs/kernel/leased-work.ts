import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Leases } from './leases.js';
import { asError } from './error-message.js';

/** Work in progress. */
export interface RunningWork {
  /** Resolves with the reason when the work ends on its own; never resolves otherwise. */
  readonly ended?: Promise<Error>;
  /** Resolves when the work writes no more. */
  stop(): Promise<void>;
}

export interface LeasedWorkOptions {
  /** Name of the lease. */
  readonly name: string;
  readonly leases: Pick<Leases, 'acquire'>;
  readonly start: () => Promise<RunningWork>;
  /** Called when the work ended on its own or could not start. It is retried, here or in another process. */
  readonly onFailure: (error: Error) => void;
  /** Delay in ms before each attempt to acquire the lease, so that a busy process leaves it to others. */
  readonly hesitateMs?: () => number;
  /** Pause in ms after a failure. It doubles up to thirty times its length, until the work has run for as long. */
  readonly retryMs?: number;
}

const RETRY_MS = 1_000;
const LONGEST_RETRY = 30;

/** Runs a piece of work in one process at a time: while this process holds the lease, and again when it regains it. */
export class LeasedWork {
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();
  /** True while this process does the work. */
  owned = false;
  /** Why the last attempt of this process ended. Undefined once the work runs again, here or in another process. */
  failure: Error | undefined;

  constructor(private readonly options: LeasedWorkOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** Ends the work and gives up the lease. Idempotent. */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    const { signal } = this.abort;
    const { name, leases, hesitateMs, onFailure, retryMs = RETRY_MS } = this.options;
    const longestMs = LONGEST_RETRY * retryMs;
    const backoff = new Backoff({ firstMs: retryMs, longestMs });
    while (!signal.aborted) {
      try {
        if (hesitateMs) await pause(hesitateMs(), signal);
        const lease = await leases.acquire(name, signal, () => (this.failure = undefined));
        if (!lease) return;
        const startedAt = performance.now();
        try {
          await this.work(lease.lost);
          backoff.reset();
        } finally {
          if (performance.now() - startedAt > longestMs) backoff.reset();
          await lease.release();
        }
      } catch (error) {
        this.failure = asError(error);
        onFailure(this.failure);
        await pause(backoff.next(), signal);
      }
    }
  }

  private async work(lost: AbortSignal): Promise<void> {
    const work = await this.options.start();
    this.owned = true;
    this.failure = undefined;
    const stopped = untilOneAborts([lost, this.abort.signal]);
    try {
      const failure = await Promise.race([stopped.promise, ...(work.ended ? [work.ended] : [])]);
      if (failure) throw failure;
    } finally {
      stopped.forget();
      this.owned = false;
      await work.stop();
    }
  }
}

/** `forget` removes the listeners, because one of the signals lives as long as the process. */
const untilOneAborts = (
  signals: readonly AbortSignal[],
): { readonly promise: Promise<undefined>; readonly forget: () => void } => {
  let end: () => void = () => undefined;
  const promise = new Promise<undefined>((resolve) => (end = () => resolve(undefined)));
  for (const signal of signals) {
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  }
  return { promise, forget: () => signals.forEach((signal) => signal.removeEventListener('abort', end)) };
};
