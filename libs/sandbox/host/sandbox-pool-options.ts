import { type Clock } from '#libs/kernel/clock.js';
import { type PoolStates } from './pooled-sandbox.js';

export interface SandboxPoolOptions {
  /** Places for processes. When all are busy, further callers wait. Default 50. */
  readonly maxWarm?: number;
  /** Heap for which a process takes one place. Default 256. */
  readonly placeMb?: number;
  /** Maximum number of processes starting at once. Default: twice the processors, at least 4. */
  readonly maxStarting?: number;
  /** Time after which an idle process ends. Default 5 minutes. */
  readonly idleMs?: number;
  /** First pause after a bundle failed to load. It doubles up to a minute. Default 1 s. */
  readonly backoffMs?: number;
  readonly clock?: Clock;
}

export interface SandboxPoolStats extends PoolStates {
  /** Processes started since the pool was created. */
  readonly started: number;
  readonly evicted: number;
  /** Processes ended after their runs, to free a slot for another workspace. */
  readonly drained: number;
  /** Processes ended because they were busy without a run. */
  readonly spun: number;
}
