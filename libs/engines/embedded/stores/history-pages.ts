import { UnknownCursor } from '#libs/kernel/read-model-store.js';
import { MOST_COUNTED, type RunFilter, type RunQuery } from '#libs/workflow-history/run-history.js';
import { type SqlValue } from '../writer/sqlite-driver.js';
import { firstPlaceAt } from './history-operations.js';

/** One list: a workflow's, or a workspace's. */
export type ListScope = { readonly workflow: string } | { readonly workspace: string };

export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A word that only the runs of the workflow, or of the workspace, have. */
export const scopeWord = (id: string): string => `_${id}`;

export const ROW = 'r.place, r.id, r.workflow, r.workspace, r.version, r.head, r.origin, r.end_text';

const scopeOf = (scope: ListScope): readonly [column: 'workflow' | 'workspace', id: string] =>
  'workflow' in scope ? ['workflow', scope.workflow] : ['workspace', scope.workspace];

/** The table with the index to read it by, and its conditions. */
const matching = (scope: ListScope, filter: RunFilter): { readonly from: string; readonly where: Sql[] } => {
  const { states, words = [], traceId, replayOf } = filter;
  const [column, id] = scopeOf(scope);
  const where: Sql[] = [{ text: `r.${column} = ?`, values: [id] }, ...columnConditions(filter)];
  if (states) where.push({ text: 'r.state IN (SELECT value FROM json_each(?))', values: [JSON.stringify(states)] });
  if (traceId !== undefined)
    where.push({
      text: `r.place IN (SELECT place FROM run_history WHERE id = ?
        UNION SELECT place FROM run_history WHERE trace = ? AND trace <> id)`,
      values: [traceId, traceId],
    });
  if (replayOf !== undefined)
    where.push({ text: 'r.place IN (SELECT place FROM run_history WHERE replay_of = ?)', values: [replayOf] });
  if (words.length > 0) {
    const wanted = [`"${scopeWord(id)}"`, ...words.map((word) => `"${word}"*`)].join(' AND ');
    where.push({ text: 'run_history_words MATCH ?', values: [wanted] });
    return { from: 'run_history_words CROSS JOIN run_history r ON r.place = run_history_words.rowid', where };
  }
  if (traceId !== undefined || replayOf !== undefined) return { from: 'run_history r', where };
  if (!states || states.includes('succeeded'))
    return { from: `run_history r INDEXED BY run_history_by_${column}`, where };
  where.push({ text: `r.state <> 'succeeded'`, values: [] });
  return { from: `run_history r INDEXED BY run_history_not_succeeded_by_${column}`, where };
};

const columnConditions = ({ test, trigger, version }: RunFilter): Sql[] => [
  ...(test === undefined ? [] : [{ text: 'r.test = ?', values: [test ? 1 : 0] }]),
  ...(trigger === undefined
    ? []
    : [{ text: '(r.trigger_type = ? OR r.trigger_name = ?)', values: [trigger, trigger] }]),
  ...(version === undefined ? [] : [{ text: 'r.deployed = ?', values: [version] }]),
];

/** Places of the runs that arrived in time, between the cursors, both ends included. Always there, to have few texts. */
const within = (
  { since = 0, until = LAST_MS, words = [] }: RunFilter,
  { after, before }: Pick<RunQuery, 'after' | 'before'>,
): Sql => {
  const last = firstPlaceAt(Math.min(until, LAST_MS) + 1) - 1;
  const ends = [
    Math.max(firstPlaceAt(since), before === undefined ? 0 : placeOf(before) + 1),
    Math.min(last, after === undefined ? last : placeOf(after) - 1),
  ];
  return { text: `${placeColumn(words)} BETWEEN ? AND ?`, values: ends };
};

/** A time whose places are still safe integers. */
const LAST_MS = 2_000_000_000_000;

/** Full-text search returns rows in the order of its own numbers only. */
const placeColumn = (words: readonly string[]): string => (words.length > 0 ? 'run_history_words.rowid' : 'r.place');

const joined = (where: readonly Sql[]): Sql => ({
  text: where.map(({ text }) => text).join(' AND '),
  values: where.flatMap(({ values }) => values),
});

/** Rows of one page. Rows of a page upwards come oldest first. */
export const pageSql = (scope: ListScope, query: RunQuery): Sql => {
  const { from, where } = matching(scope, query);
  const { text, values } = joined([...where, within(query, query)]);
  const place = placeColumn(query.words ?? []);
  const order = isUpwards(query) ? 'ASC' : 'DESC';
  return {
    text: `SELECT ${ROW} FROM ${from} WHERE ${text} ORDER BY ${place} ${order} LIMIT ?`,
    values: [...values, query.limit],
  };
};

export const totalSql = (scope: ListScope, filter: RunFilter): Sql => {
  const { from, where } = matching(scope, filter);
  const { text, values } = joined([...where, within(filter, {})]);
  return { text: `SELECT count(*) AS n FROM (SELECT 1 FROM ${from} WHERE ${text} LIMIT ${MOST_COUNTED})`, values };
};

export const isUpwards = ({ after, before }: RunQuery): boolean => before !== undefined && after === undefined;

export const placeText = (place: number): string => String(place);

const placeOf = (text: string): number => {
  if (!/^\d{1,16}$/.test(text)) throw new UnknownCursor(text);
  return Number(text);
};
