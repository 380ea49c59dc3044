import { type RunSurplus } from '#libs/workflow-history/run-history.js';
import { type Sql } from './history-pages.js';

/** Ids of the ended runs of a workflow that are too old, and of those of the others that are too many. */
export const surplusRunsSql = (
  { workflowId, runs, since }: Extract<RunSurplus, { workflowId: string }>,
  limit: number,
): readonly [old: Sql, tooMany: Sql] => {
  const ended = 'SELECT id FROM run_history INDEXED BY run_history_by_end WHERE workflow = ? AND ended';
  return [
    { text: `${ended} < ? ORDER BY ended LIMIT ?`, values: [workflowId, since, limit] },
    { text: `${ended} >= ? ORDER BY ended DESC LIMIT ? OFFSET ?`, values: [workflowId, since, limit, runs] },
  ];
};

/** The bytes of all runs of a workspace, and its oldest ended runs. Both read one index. */
export const surplusWorkspaceSql = (
  workspaceId: string,
  limit: number,
): { readonly bytesOf: Sql; readonly oldestOf: Sql } => {
  const of = 'FROM run_history INDEXED BY run_history_by_workspace WHERE workspace = ?';
  return {
    bytesOf: { text: `SELECT sum(bytes) AS bytes ${of}`, values: [workspaceId] },
    oldestOf: {
      text: `SELECT id, bytes ${of} AND ended IS NOT NULL ORDER BY place LIMIT ?`,
      values: [workspaceId, limit],
    },
  };
};
