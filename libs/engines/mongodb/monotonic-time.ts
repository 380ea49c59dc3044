import { pause } from '#libs/async/pause.js';

/** Time as measured by one process, unrelated to that of another process. */
export interface MonotonicTime {
  /** Milliseconds since an arbitrary moment. */
  now(): number;
  /** Resolves early when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const monotonicTime: MonotonicTime = { now: () => performance.now(), sleep: pause };
