import { type UserError } from '#libs/component-model/run-output.js';
import { type ExecutionRecord, type SkipReason } from './run-facts.js';

/** Number of messages of which the history tells what became of them. The others are sent, or failed, with their step. */
export const heardOf = (sends: ExecutionRecord['sends']): number =>
  sends.filter(({ kind, error }) => error === undefined && kind !== 'emit' && kind !== 'sse').length;

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
