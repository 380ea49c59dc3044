import { ERRORS_CHANNEL, LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type DelayHeaders, type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { type SourceRun } from '#libs/stream-log/source-runs.js';
import { type Finished } from './run-commit.js';

/** Counts what a run leaves while its records are made. */
export interface ListedRun {
  count(headers: Pick<EmitHeaders | DelayHeaders, 'kind' | 'channel' | 'id'>): void;
  /** Returns the number of events that went out. */
  events(): number;
  /** Returns the entry; none for what the platform says itself, which is no run. */
  end(): readonly SourceRun[];
}

/**
 * Begins the entry of an execution in the list of runs.
 *
 * @param outcome as it is committed
 */
export const listedRun = (
  { execution, invocation, attempts = 1 }: Pick<Finished, 'execution' | 'invocation' | 'attempts'>,
  outcome: RunOutcome,
): ListedRun => {
  const kind = execution.hook ? 'hook' : invocation?.headers.kind;
  // A sample of an event is asked for like a hook.
  const isRun = kind !== 'hook' || execution.hook !== undefined;
  const { status, startedAt, endedAt, error, response } = outcome;
  let emits = 0;
  let delayed = 0;
  let logs = 0;
  let firstEvent = '';
  return {
    count: ({ kind: of, channel, id }) => {
      if (firstEvent === '') firstEvent = id;
      if (channel === LOGS_CHANNEL) logs++;
      else if (channel !== ERRORS_CHANNEL) emits++;
      if (of === 'delay') delayed++;
    },
    events: () => emits - delayed,
    end: () =>
      isRun && kind !== undefined
        ? [
            {
              id: execution.id,
              kind,
              status,
              queuedAt: invocation?.record.timestamp ?? startedAt,
              startedAt,
              ms: endedAt - startedAt,
              emits,
              delayed,
              logs,
              httpStatus: response?.status ?? null,
              attempts,
              firstEvent,
              error: error ? { name: error.name, message: error.message } : null,
            },
          ]
        : [],
  };
};
