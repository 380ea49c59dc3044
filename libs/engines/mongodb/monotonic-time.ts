import { pause } from './pause.js';

/** Time as one process measures it; that of another process has nothing to do with it. */
export interface MonotonicTime {
  /** ms since some moment. */
  now(): number;
  /** Resolves early when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const monotonicTime: MonotonicTime = { now: () => performance.now(), sleep: pause };
