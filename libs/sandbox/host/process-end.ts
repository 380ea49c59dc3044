import { type ComponentCall } from '#libs/component-model/component-call.js';
import { type ProcessEnd } from '../jail/jailed-process.js';
import { type UserError } from '#libs/component-model/run-output.js';

/** Reason why a process ended. */
export interface Cause {
  /** Timeout, OutOfMemory or ProcessExited (docs/reference/errors.md#run-error-codes). */
  readonly code: string;
  readonly text: string;
}

const OUT_OF_MEMORY = /heap out of memory|Allocation failed|std::bad_alloc|out of memory|ENOMEM/i;
/** Added to the signal number by a shell or bwrap whose child died by a signal. */
const SIGNALLED = 128;
const SIGKILL = 9;

/** Heap limit of a process, and what sets it. */
export interface HeapLimit {
  readonly memoryMb: number;
  readonly setting?: 'SLUICE_MEMORY_MB' | 'memory_mb';
}

/** Derives the cause for a process that the host did not end. */
export const causeOf = (
  { exitCode, signal, outOfMemory, stderr }: ProcessEnd,
  { memoryMb, setting = 'SLUICE_MEMORY_MB' }: HeapLimit,
): Cause => {
  const killed = signal === 'SIGKILL' || exitCode === SIGNALLED + SIGKILL;
  if (outOfMemory || OUT_OF_MEMORY.test(stderr) || killed)
    return {
      code: 'OutOfMemory',
      text: `the process needed more memory than allowed (heap limit ${memoryMb} MB): keep less in memory, or raise ${setting}`,
    };
  const how = signal === null ? `exit code ${exitCode ?? 'unknown'}` : `signal ${signal}`;
  return { code: 'ProcessExited', text: `the process exited during the run (${how})` };
};

export const userError = (code: string, message: string): UserError => ({ name: code, message, stack: '', code });

/** Kind of work of a process. */
export type Work = 'run' | 'hook' | ComponentCall['kind'];

/** Author's name of the work, and the setting of its time limit. Calls for which a form waits have a fixed limit. */
const WORK: Readonly<Record<Work, { readonly name: string; readonly setting?: string }>> = {
  run: { name: 'the run', setting: 'SLUICE_RUN_TIMEOUT_S' },
  hook: { name: 'the hook', setting: 'SLUICE_HOOK_TIMEOUT_S' },
  step: { name: 'the step', setting: 'timeout_seconds' },
  action: { name: 'the action', setting: 'SLUICE_RUN_TIMEOUT_S' },
  options: { name: 'options of the prop' },
  additional_props: { name: 'additionalProps' },
  event_names: { name: 'eventNames of the prop' },
};

interface KilledRun {
  readonly invocationId: string;
  readonly timeoutMs: number;
  readonly work: Work;
  ranFor(now: number): number;
}

/** How a process ended. */
export interface Death {
  readonly cause: Cause;
  /** The run that ended it. */
  readonly culprit: KilledRun | undefined;
  readonly at: number;
}

const isOverdue = (run: KilledRun, { cause, culprit, at }: Death): boolean =>
  cause.code === 'Timeout' && (run === culprit || run.ranFor(at) >= run.timeoutMs);

/** Whether another run ended the process. */
export const isVictim = (run: KilledRun, death: Death): boolean =>
  death.culprit !== undefined && run !== death.culprit && !isOverdue(run, death);

/** Error of a run whose process ended because of the culprit, which may be the same run. */
export const errorOfKilled = (run: KilledRun, death: Death): UserError => {
  const { cause, culprit } = death;
  if (isOverdue(run, death)) {
    const { name, setting } = WORK[run.work];
    const remedy = setting === undefined ? 'make it faster' : `make it faster, or raise ${setting}`;
    const text = `${name} took longer than its limit of ${run.timeoutMs} ms: ${remedy}`;
    return userError('Timeout', text);
  }
  if (culprit && isVictim(run, death))
    return userError(
      'ProcessExited',
      `the process was taken down by another run, ${culprit.invocationId}: ${cause.code}`,
    );
  return userError(cause.code, cause.text);
};
