import { ArrayMaxSize, ArrayMinSize, IsArray, IsOptional, IsString } from 'class-validator';
import { Meaning } from '#libs/http/meaning.js';
import { describe, type Parameters } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { type RunStatus } from '#libs/workflow-runs/run-state.js';
import { runFilterIn } from '../list-runs/run-filter.js';
import { type ListedRun, OUTLINES, type RunFilter, type RunHistory } from '../run-history.js';

const MOST_IDS = 1_000;
/** Runs that one request may select. */
export const MOST_SELECTED = 10_000;
/** Runs that the server reads at once. */
const PAGE = 500;
const FILTERS = ['state', 'since', 'until', 'q'];

export const FILTER_MEANING = `Runs of the workflow by at least one of ${FILTERS.join(', ')}, as in the list of runs; in place of run_ids`;

export class SelectRunsDto {
  @Meaning('Ids of 1 to 1,000 runs of the workflow; in place of filter')
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_IDS)
  @IsString({ each: true })
  run_ids?: string[];
}

/** docs/reference/workflows.md#run-selector */
export type RunSelector = { readonly runIds: readonly string[] } | { readonly filter: Omit<RunFilter, 'of'> };

/**
 * Reads what a request in bulk selects. Throws request.missing_parameter and request.invalid_parameter, also for a filter
 * without a condition, because it would select every run.
 */
export const runSelectorIn = ({ run_ids: runIds }: SelectRunsDto, { filter }: Parameters): RunSelector => {
  const hasFilter = filter !== undefined && filter !== null;
  if (runIds && hasFilter) throw refusal('filter', 'stands in place of run_ids: leave one of them out');
  if (runIds) return { runIds: [...new Set(runIds)] };
  if (!hasFilter) {
    const message = 'parameter run_ids or filter is missing: say which runs you mean';
    throw new DomainError('request.missing_parameter', message, { field: 'run_ids' });
  }
  if (typeof filter !== 'object' || Array.isArray(filter)) {
    throw refusal('filter', `must be an object; got ${String(describe(filter))}`);
  }
  const conditions = Object.entries(filter).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const unknown = conditions.find(([name]) => !FILTERS.includes(name));
  if (unknown) throw refusal('filter', `takes ${FILTERS.join(', ')}, and not ${String(describe(unknown[0]))}`);
  if (conditions.length === 0) throw refusal('filter', `must have at least one of ${FILTERS.join(', ')}`);
  return { filter: runFilterIn(Object.fromEntries(conditions)) };
};

const refusal = (field: string, rule: string): DomainError =>
  new DomainError('request.invalid_parameter', `parameter ${field} ${rule}`, { field });

/**
 * Lists the runs of a workflow that are selected and in one of these states, page by page. Of a run it reads what
 * `outlines` has. Throws run.too_many_selected when a filter selects more than MOST_SELECTED.
 */
export async function* selectedRuns(
  history: Pick<RunHistory, 'page' | 'outlines'>,
  workflowId: string,
  selector: RunSelector,
  states: readonly RunStatus[],
): AsyncIterable<ListedRun> {
  const isWanted = (run: ListedRun): boolean => run.workflowId === workflowId && states.includes(run.state.head.status);
  const pages = 'runIds' in selector ? [selector.runIds] : filteredIds(history, workflowId, selector.filter, states);
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += OUTLINES) {
      const ids = page.slice(at, at + OUTLINES).filter((id) => isIdOf('run', id));
      yield* (await history.outlines(ids)).filter(isWanted);
    }
  }
}

async function* filteredIds(
  history: Pick<RunHistory, 'page'>,
  workflowId: string,
  filter: Omit<RunFilter, 'of'>,
  states: readonly RunStatus[],
): AsyncIterable<readonly string[]> {
  const wanted = filter.states ? states.filter((state) => filter.states?.includes(state)) : states;
  if (wanted.length === 0) return;
  let selected = 0;
  for (let place: string | undefined; ;) {
    const after = place === undefined ? {} : { after: place };
    const { runs } = await history.page({ ...filter, of: { workflowId }, states: wanted, limit: PAGE, ...after });
    selected += runs.length;
    if (selected > MOST_SELECTED) throw tooMany();
    yield runs.map(({ id }) => id);
    if (runs.length < PAGE) return;
    place = runs.at(-1)?.place;
  }
}

const tooMany = (): DomainError =>
  new DomainError(
    'run.too_many_selected',
    `the filter selects more than ${MOST_SELECTED} runs: narrow it, for example by since and until`,
    { field: 'filter', limit: MOST_SELECTED },
  );
