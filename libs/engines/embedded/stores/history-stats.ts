import { MOST_COUNTED } from '#libs/workflow-history/run-history.js';
import { firstPlaceAt } from './history-operations.js';
import { type Sql } from './history-pages.js';

export interface StatsRow {
  readonly last: number | null;
  readonly runs: number;
  readonly failed: number;
}

/** One row. Both parts read the index alone, newest first, and end where their limit is. */
export const statsSql = (workflowId: string, since: number): Sql => {
  const newest = `SELECT place, state, test FROM run_history INDEXED BY run_history_by_workflow WHERE workflow = ?`;
  const bounded = `ORDER BY place DESC LIMIT ${MOST_COUNTED}`;
  return {
    text: `SELECT (SELECT place FROM (${newest} ${bounded}) WHERE test = 0 LIMIT 1) AS last,
        count(*) AS runs, count(*) FILTER (WHERE state = 'failed') AS failed
      FROM (${newest} AND place >= ? ${bounded}) WHERE test = 0`,
    values: [workflowId, workflowId, firstPlaceAt(since)],
  };
};
