import { userError, type RunOutcome } from '#libs/sandbox/index.js';
import { type Invocation } from '../invocation.js';
import { hostEndedError } from '../host-deaths.js';
import { type EmitCall, type LogLine, type UserError } from '#libs/component-model/run-output.js';

/** Outcome of every run of a bundle that cannot be loaded. */
export const failedToLoad = (error: UserError, now: number): RunOutcome => nothingButError('threw', error, now);

/** Outcome of a run that is not tried again, because it killed its host each time. */
export const hostEnded = (deaths: number, now: number): RunOutcome =>
  nothingButError('killed', hostEndedError(deaths), now);

/** Outcome of one line for `$logs` only. A child may choose the time of its line, so `now` is separate. */
export const loggedOutcome = (line: LogLine, now: number): RunOutcome => ({
  status: 'ok',
  emits: [],
  logs: [line],
  dbChanges: {},
  startedAt: now,
  endedAt: now,
});

/** Outcome that emits a delayed event that is due. */
export const delayedOutcome = (
  { headers, record }: Pick<Invocation, 'headers' | 'record'>,
  now: number,
): RunOutcome => {
  const { channel = '', dedupe, summary, ts } = headers;
  const emit: EmitCall = {
    payload: record.value,
    channel,
    ...(dedupe === undefined ? {} : { id: JSON.parse(dedupe) as string | number }),
    ...(summary === undefined ? {} : { summary }),
    ...(ts === undefined ? {} : { ts: Number(ts) }),
  };
  return { status: 'ok', emits: [emit], logs: [], dbChanges: {}, startedAt: now, endedAt: now };
};

/** Outcome that reports once that the runs of a source wait for npm packages. It belongs to no run. */
export const waitsForPackages = (message: string, now: number): RunOutcome =>
  nothingButError(
    'threw',
    userError(
      'PackageUnavailable',
      `the component cannot be started, so its events wait and it is tried again: ${message}`,
    ),
    now,
  );

const nothingButError = (status: RunOutcome['status'], error: UserError, now: number): RunOutcome => ({
  status,
  error,
  emits: [],
  logs: [],
  dbChanges: {},
  startedAt: now,
  endedAt: now,
});
