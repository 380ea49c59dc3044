import { type SourceDefinition } from '../sources/published.js';
import { userError } from '../sandbox/host/process-end.js';
import { type RunOutcome } from '../sandbox/sandbox.js';
import { type UserError } from '../component-model/run-output.js';

const fingerprints = new WeakMap<SourceDefinition, string>();
/** Equal for definitions that run alike, whatever object they came in. */
export const fingerprint = (definition: SourceDefinition): string => {
  let text = fingerprints.get(definition);
  if (text === undefined) {
    text = JSON.stringify(definition);
    fingerprints.set(definition, text);
  }
  return text;
};

/** A bundle that cannot be loaded fails each run of it. */
export const failedToLoad = (error: UserError, now: number): RunOutcome => nothingButError('threw', error, now);

/** A run that has ended its host each time is not run again. */
export const hostEnded = (deaths: number, now: number): RunOutcome =>
  nothingButError(
    'killed',
    userError(
      'HostEnded',
      `the server process was ended ${deaths} times during this run, the last times while nothing else ran: it is not run again`,
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
