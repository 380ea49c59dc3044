import { type SendOutcome } from '#libs/stream-log/message-records.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { PARTS, type RunHead, type RunState } from '#libs/workflow-runs/run-state.js';
import {
  applyChanges,
  fieldsOf,
  firstOf,
  type RecordedRun,
  type RunWrite,
  sentText,
  type SizedRun,
} from '#libs/workflow-history/recorded-run.js';
import {
  type ListedRun,
  MOST_COUNTED,
  type RunHistory,
  type RunPage,
  type RunQuery,
  type RunStats,
  type RunSurplus,
} from '#libs/workflow-history/run-history.js';
import { type HistoryWrite } from '../writer/ops.js';
import { nextTurn } from '../yielding.js';
import { arrivalAt } from './history-operations.js';
import { type StatsRow, statsSql } from './history-stats.js';
import { surplusRunsSql, surplusWorkspaceSql } from './history-surplus.js';
import { textIn, type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';
import { isUpwards, type ListScope, pageSql, placeText, ROW, scopeWord, type Sql, totalSql } from './history-pages.js';

interface Row {
  readonly place: number;
  readonly id: string;
  readonly workflow: string;
  readonly workspace: string;
  readonly version: number;
  readonly head: string;
  readonly origin: string;
  readonly end_text: string | Uint8Array | null;
}

interface StoredRow extends Row {
  readonly summaries: string;
}

const IDS_PAGE = 1_000;
/** Characters of one write. Larger runs are written alone. */
const WRITE_CHARS = 1 << 20;

/** RunHistory in data.db: a row for each run, its texts beside it, and a full-text index of its words. */
export class EmbeddedRunHistory implements RunHistory {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
  ) {}

  apply(changes: readonly RunChange[]): Promise<void> {
    const stored = async (ids: readonly string[]): Promise<ReadonlyMap<string, RecordedRun>> => this.stored(ids);
    return applyChanges({ stored, write: (writes) => this.write(writes) }, changes);
  }

  async applySends(outcomes: readonly SendOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    await this.writer.submit('history_sends', outcomes.map(sentText));
  }

  async page(query: RunQuery): Promise<RunPage> {
    const scopes: readonly ListScope[] =
      'workflowId' in query.of
        ? [{ workflow: query.of.workflowId }]
        : query.of.workspaceIds.map((workspace) => ({ workspace }));
    const upwards = isUpwards(query);
    const rows = scopes.flatMap((scope) => this.all<Row>(pageSql(scope, query)));
    const ordered = rows.sort((a, b) => (upwards ? a.place - b.place : b.place - a.place)).slice(0, query.limit);
    const total = scopes.reduce((sum, scope) => sum + (this.all<{ n: number }>(totalSql(scope, query))[0]?.n ?? 0), 0);
    return {
      runs: (upwards ? ordered.reverse() : ordered).map((row) => listed(row)),
      total: Math.min(total, MOST_COUNTED),
    };
  }

  async stats(workflowIds: readonly string[], since: number): Promise<readonly RunStats[]> {
    const found: RunStats[] = [];
    for (const workflowId of workflowIds) {
      const [row] = this.all<StatsRow>(statsSql(workflowId, since));
      const { last = null, runs = 0, failed = 0 } = row ?? {};
      found.push({ lastArrivedAt: last === null ? null : arrivalAt(last), runs, failed });
      await nextTurn();
    }
    return found;
  }

  async find(id: string): Promise<ListedRun | undefined> {
    const [row] = this.all<Row>({ text: `SELECT ${ROW} FROM run_history r WHERE id = ?`, values: [id] });
    return row && listed(row);
  }

  /** One statement, because between two of them the run may change. */
  async whole(id: string): Promise<ListedRun | undefined> {
    const rows = this.all<Row & { readonly name: string | null; readonly text: string | Uint8Array }>({
      text: `SELECT ${ROW}, t.name, t.text FROM run_history r
        LEFT JOIN run_history_texts t ON t.place = r.place WHERE r.id = ?`,
      values: [id],
    });
    const [row] = rows;
    const texts = rows.flatMap(({ name, text }) => (name === null ? [] : [[name, textIn(text)] as const]));
    return row && listed(row, Object.fromEntries(texts));
  }

  async outlines(ids: readonly string[]): Promise<readonly ListedRun[]> {
    const rows = this.all<Row & { readonly name: string | null; readonly text: string | Uint8Array }>({
      text: `SELECT ${ROW}, t.name, CASE t.name WHEN ? THEN '' ELSE t.text END AS text FROM run_history r
        LEFT JOIN run_history_texts t ON t.place = r.place AND (t.name = ? OR t.name GLOB ?)
        WHERE r.id IN (SELECT value FROM json_each(?))`,
      values: [PARTS.event, PARTS.event, PARTS.step('*'), JSON.stringify(ids)],
    });
    const found = new Map<string, { readonly row: Row; readonly texts: Record<string, string> }>();
    for (const { name, text, ...row } of rows) {
      const run = found.get(row.id) ?? { row, texts: {} };
      if (name !== null) run.texts[name] = textIn(text);
      found.set(row.id, run);
    }
    return [...found.values()].map(({ row, texts }) => listed(row, texts));
  }

  async *ids(): AsyncIterable<string> {
    for (let after = ''; ;) {
      const text = 'SELECT id FROM run_history WHERE id > ? ORDER BY id LIMIT ?';
      const page = this.all<{ id: string }>({ text, values: [after, IDS_PAGE] });
      for (const { id } of page) yield id;
      const last = page.at(-1);
      if (!last || page.length < IDS_PAGE) return;
      after = last.id;
      await nextTurn();
    }
  }

  async surplus(of: RunSurplus, limit: number): Promise<readonly string[]> {
    if ('workflowId' in of) {
      const [old, tooMany] = surplusRunsSql(of, limit);
      const ids = [...this.all<{ id: string }>(old), ...this.all<{ id: string }>(tooMany)].map(({ id }) => id);
      return ids.slice(0, limit);
    }
    const { bytesOf, oldestOf } = surplusWorkspaceSql(of.workspaceId, limit);
    const bytes = this.all<{ bytes: number | null }>(bytesOf)[0]?.bytes ?? 0;
    return bytes > of.bytes ? firstOf(this.all<SizedRun>(oldestOf), bytes - of.bytes) : [];
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.writer.submit('history_remove', ids);
  }

  private all<R>({ text, values }: Sql): R[] {
    return this.reader.sql(text).all<R>(...values);
  }

  private stored(ids: readonly string[]): ReadonlyMap<string, RecordedRun> {
    const rows = this.all<StoredRow>({
      text: `SELECT ${ROW}, r.summaries FROM run_history r WHERE id IN (SELECT value FROM json_each(?))`,
      values: [JSON.stringify(ids)],
    });
    return new Map(
      rows.map((row) => {
        const { id, workflow: workflowId, workspace: workspaceId, version } = row;
        const summaries = JSON.parse(row.summaries) as RecordedRun['summaries'];
        return [id, { id, workflowId, workspaceId, version, state: stateOf(row), summaries }];
      }),
    );
  }

  private async write(writes: readonly RunWrite[]): Promise<readonly string[]> {
    const overtaken: string[] = [];
    for (let from = 0; from < writes.length;) {
      const some: HistoryWrite[] = [];
      let chars = 0;
      for (; from < writes.length && (some.length === 0 || chars < WRITE_CHARS); from++) {
        const write = flatWrite(writes[from] as RunWrite);
        chars += charsOf(write);
        some.push(write);
      }
      overtaken.push(...(await this.writer.submit('history_put', some, { bytes: chars })));
    }
    return overtaken;
  }
}

const stateOf = ({ head, origin, end_text: end }: Row, texts: RunState['parts'] = {}): RunState => ({
  head: JSON.parse(head) as RunHead,
  parts: { [PARTS.origin]: origin, ...(end === null ? {} : { [PARTS.end]: textIn(end) }), ...texts },
});

const listed = (row: Row, texts?: RunState['parts']): ListedRun => ({
  id: row.id,
  workflowId: row.workflow,
  workspaceId: row.workspace,
  version: row.version,
  state: stateOf(row, texts),
  place: placeText(row.place),
});

const flatWrite = ({ expected, run, texts, words }: RunWrite): HistoryWrite => {
  const { state, test, arrivedAt, endedAt, triggerType, triggerName, workflowVersion, traceId, replayOf, bytes } =
    fieldsOf(run);
  const scope = [run.workflowId, run.workspaceId].map(scopeWord);
  return {
    id: run.id,
    expected,
    arrivedAt,
    columns: {
      workflow: run.workflowId,
      workspace: run.workspaceId,
      version: run.version,
      state,
      test: test ? 1 : 0,
      trigger_type: triggerType,
      trigger_name: triggerName,
      deployed: workflowVersion,
      trace: traceId,
      replay_of: replayOf,
      ended: endedAt,
      bytes,
      head: JSON.stringify(run.state.head),
      origin: run.state.parts[PARTS.origin] ?? '',
      end_text: run.state.parts[PARTS.end] ?? null,
      summaries: JSON.stringify(run.summaries),
    },
    texts: Object.entries(texts).flat(),
    ...(words === null ? {} : { words: [...scope, ...words].join(' ') }),
  };
};

const charsOf = ({ columns, texts, words }: HistoryWrite): number => {
  let chars = 300 + (words?.length ?? 0);
  for (const value of Object.values(columns)) chars += typeof value === 'string' ? value.length : 8;
  for (const text of texts) chars += text?.length ?? 0;
  return chars;
};
