import { momentsIn } from '#libs/http/moment.js';
import { describe, type Parameters } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { ENDED_STATUSES } from '#libs/stream-log/source-runs.js';

export const RUN_STATUSES = ['queued', 'running', ...ENDED_STATUSES] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Kinds as in the server's log (docs/reference/component-model.md#run-log). */
export const RUN_KINDS = ['http', 'timer', 'apphook', 'emit', 'manual', 'hook', 'delayed'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

export const isRunKind = (kind: string): kind is RunKind => RUN_KINDS.some((known) => known === kind);

export interface RunFilter {
  readonly statuses?: readonly RunStatus[];
  readonly kinds?: readonly RunKind[];
  /** Epoch milliseconds at which the run was queued, both included. */
  readonly since?: number;
  readonly until?: number;
}

export const RUN_FILTERS = {
  status: `Comma list of ${RUN_STATUSES.join(', ')}`,
  kind: `Comma list of ${RUN_KINDS.join(', ')}`,
  since: 'When the oldest run was queued: epoch seconds or milliseconds, or an ISO 8601 time',
  until: 'When the newest run was queued: epoch seconds or milliseconds, or an ISO 8601 time',
};

/** Reads the filters of a list of runs. Throws request.invalid_parameter. */
export const runFilterIn = (params: Parameters): RunFilter => {
  const statuses = wordsIn(params, 'status', RUN_STATUSES);
  const kinds = wordsIn(params, 'kind', RUN_KINDS);
  return { ...momentsIn(params), ...(statuses ? { statuses } : {}), ...(kinds ? { kinds } : {}) };
};

const wordsIn = <const W extends string>(
  params: Parameters,
  field: string,
  allowed: readonly W[],
): readonly W[] | undefined => {
  const given = params[field];
  if (given === undefined || given === null || given === '') return undefined;
  const words = typeof given === 'string' ? given.split(',') : [given];
  return words.map((word) => {
    const known = allowed.find((each) => typeof word === 'string' && each === word.trim());
    if (known !== undefined) return known;
    const actual = describe(word);
    const message = `parameter ${field} must be a comma list of ${allowed.join(', ')}; got ${String(actual)}`;
    throw new DomainError('request.invalid_parameter', message, { field, actual, allowed });
  });
};
