import { type Engines } from '#libs/composition/engines.js';
import { laneHistory } from '#libs/stream-log/lane-history.js';
import { RUNS } from '#libs/stream-log/topics.js';
import { RUN_HISTORY_GROUP, recordsInto } from '#libs/workflow-history/index.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { headText } from '#libs/workflow-runs/stored-run.js';

type Runs = Pick<Engines, 'log' | 'journal' | 'runHistory'>;

const PAGE = 256;
/** Above the offsets of any lane. */
const PLACES = 2 ** 40;

/** Runs that wait for their first start keep their order, before all that arrive after the move. */
const placeBeforeOthers = (place: number | null): number | null =>
  place === null || place < 0 ? place : place - PLACES;

/** Brings the history up to date, so that it has each run as its journal has it. Idempotent. */
export const completeHistory = async ({ log, journal, runHistory }: Runs): Promise<void> => {
  // Loading a run puts the records of its commits into the log.
  for await (const executable of journal.executables()) {
    for (let after = ''; ;) {
      const page = await journal.runs(executable, after, PAGE);
      for (const { run } of page) await journal.load({ executable, run });
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      after = last.run;
    }
  }
  for (const topic of await log.topics(RUNS)) {
    const committed = await log.committed(RUN_HISTORY_GROUP, topic);
    for (const lane of await log.lanes(topic)) {
      for await (const page of laneHistory(log, lane, { after: committed[lane] ?? -1, pageSize: () => PAGE }))
        await recordsInto(runHistory, page, (_, error) => {
          throw error;
        });
    }
  }
};

/** Reads each run as one change that makes its whole state. */
export async function* wholeRuns({ runHistory }: Pick<Runs, 'runHistory'>): AsyncIterable<RunChange> {
  for await (const id of runHistory.ids()) {
    const run = await runHistory.whole(id);
    if (!run) continue;
    const { workflowId, workspaceId, state } = run;
    const head = { ...state.head, place: placeBeforeOthers(state.head.place) };
    yield { runId: id, workflowId, workspaceId, version: 1, head, parts: state.parts };
  }
}

/** Writes runs into the history, and those that go on into the journal too. Idempotent. */
export const importRuns = async (
  { journal, runHistory }: Pick<Runs, 'journal' | 'runHistory'>,
  runs: AsyncIterable<RunChange>,
): Promise<void> => {
  for await (const run of runs) {
    const { head, parts } = run;
    await runHistory.apply([run]);
    if (head.endedAt !== null) continue;
    const key = { executable: run.workflowId, run: run.runId };
    if ((await journal.load(key)).version > 0) continue;
    await journal.commit({
      ...key,
      expectedVersion: 0,
      head: headText({ head, parts: {} }),
      parts,
      inbox: [],
      records: [],
    });
  }
};
