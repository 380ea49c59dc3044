import { momentsIn } from '#libs/http/moment.js';
import { describe, type Parameters } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type RunStatus } from '#libs/workflow-runs/run-state.js';
import { type RunFilter } from '../run-history.js';
import { wordsOf } from '../search-words.js';

export const RUN_STATES: readonly RunStatus[] = [
  'queued',
  'running',
  'waiting',
  'succeeded',
  'exited',
  'failed',
  'cancelled',
];

const MOST_CHARS = 200;
const TEST_FILTERS = ['false', 'true', 'any'] as const;

export const RUN_FILTERS = {
  state: `Comma list of ${RUN_STATES.join(', ')}`,
  since: 'Arrival of the oldest run: epoch seconds or milliseconds, or an ISO 8601 time',
  until: 'Arrival of the newest run: epoch seconds or milliseconds, or an ISO 8601 time',
  trigger: 'Type or name of the trigger',
  q: 'Words of which each begins a word of the run: id, name of the trigger, summaries, exit reason, error',
  version: 'Number of the version of the workflow',
  trace_id: 'Id of the first run of a chain',
  replay_of: 'Id of the run that was replayed',
  test: 'false (the default), true or any',
};

/** Reads the filters of a list of runs (docs/reference/workflows.md#run-filters). Throws request.invalid_parameter. */
export const runFilterIn = (params: Parameters): Omit<RunFilter, 'of'> => {
  const states = statesIn(params);
  const [q, trigger, traceId, replayOf] = ['q', 'trigger', 'trace_id', 'replay_of'].map((name) => textIn(params, name));
  const version = versionIn(params);
  const test = testIn(params);
  return {
    ...momentsIn(params),
    ...(states === undefined ? {} : { states }),
    ...(q === undefined ? {} : { words: wordsOf(q) }),
    ...(trigger === undefined ? {} : { trigger }),
    ...(traceId === undefined ? {} : { traceId }),
    ...(replayOf === undefined ? {} : { replayOf }),
    ...(version === undefined ? {} : { version }),
    ...(test === undefined ? {} : { test }),
  };
};

const refusal = (field: string, rule: string, given: unknown, more: Readonly<Record<string, unknown>> = {}) => {
  const actual = describe(given);
  return new DomainError('request.invalid_parameter', `parameter ${field} must be ${rule}; got ${String(actual)}`, {
    field,
    actual,
    ...more,
  });
};

const isAbsent = (given: unknown): given is undefined | null | '' =>
  given === undefined || given === null || given === '';

const textIn = (params: Parameters, field: string): string | undefined => {
  const given = params[field];
  if (isAbsent(given)) return undefined;
  if (typeof given === 'string' && given.length <= MOST_CHARS) return given;
  throw refusal(field, `one text of at most ${MOST_CHARS} characters`, given, { limit: MOST_CHARS });
};

const statesIn = (params: Parameters): readonly RunStatus[] | undefined => {
  const text = textIn(params, 'state');
  if (text === undefined) return undefined;
  return text.split(',').map((name) => {
    const state = RUN_STATES.find((known) => known === name.trim());
    if (state !== undefined) return state;
    throw refusal('state', `a comma list of ${RUN_STATES.join(', ')}`, name, { allowed: RUN_STATES });
  });
};

const versionIn = (params: Parameters): number | undefined => {
  const given = params['version'];
  if (isAbsent(given)) return undefined;
  const version = typeof given === 'number' ? given : Number(textIn(params, 'version'));
  if (Number.isSafeInteger(version) && version >= 1) return version;
  throw refusal('version', 'the number of a version, from 1', given);
};

const testIn = (params: Parameters): boolean | undefined => {
  const given = params['test'];
  const text = typeof given === 'boolean' ? String(given) : (textIn(params, 'test') ?? 'false');
  if (!TEST_FILTERS.some((known) => known === text)) throw refusal('test', 'false, true or any', given);
  return text === 'any' ? undefined : text === 'true';
};
