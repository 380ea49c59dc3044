import { type UserError } from '#libs/component-model/run-output.js';
import { type ExecutionRecord, type SkipReason } from './run-facts.js';

/** A step of a run that has an outcome, in its part. */
export interface StepOutcome {
  readonly state: 'succeeded' | 'failed' | 'skipped' | 'cancelled';
  readonly skipReason: SkipReason | null;
  readonly reused: boolean;
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly durationMs: number;
  readonly runs: number;
  readonly attempts: number;
  readonly error: UserError | null;
  /** When a failed step is tried again. */
  readonly retryAt: number | null;
  readonly sends: ExecutionRecord['sends'];
  /** Number of items of a loop that this run went through. */
  readonly items?: number | undefined;
}
