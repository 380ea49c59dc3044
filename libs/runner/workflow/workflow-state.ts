import { type ThrottleWindow, loadAdmission } from '#libs/workflow-runs/admission.js';
import { type RunHead } from '#libs/workflow-runs/run-state.js';
import { headOf } from '#libs/workflow-runs/stored-run.js';
import { type LaneState } from '../lane-state.js';
import { type RunJournal } from '../run-journal.js';
import { type WorkflowState } from './run-turn.js';
import { type MarkedRun, isStepDb, mayBeMissing } from './step-dbs.js';
import { LAST_RUNS, THROTTLE } from './workflow-decisions.js';

const PAGE = 1_000;

export interface LoadedRuns {
  readonly state: WorkflowState;
  /** Runs that were executing when their last owner ended. */
  readonly running: readonly string[];
  /** Runs that have ended, and were not dropped. */
  readonly ended: readonly string[];
  /** Runs whose arrival the progress of the lane does not cover. */
  readonly unconfirmed: ReadonlySet<string>;
  /** Runs whose changes may be missing in the db of their step. */
  readonly marked: readonly MarkedRun[];
}

type Placed = Pick<RunHead, 'status' | 'place' | 'position' | 'resumed'>;

/** One object for all, because 100,000 may wait. */
const WAITING: Placed = { status: 'waiting', place: 0, position: null, resumed: null };

/** Reads the heads of a workflow's runs, by pages, and what they mean for the workflow. */
export const loadRuns = async (
  workflowId: string,
  journal: Pick<RunJournal, 'runs'>,
  { own, progress }: Pick<LaneState, 'own' | 'progress'>,
): Promise<LoadedRuns> => {
  const heads: [string, Placed][] = [];
  const running: string[] = [];
  const ended: string[] = [];
  const unconfirmed = new Set<string>();
  const done = new Set(progress.above);
  const dbVersions = new Map<string, number>();
  const marked: MarkedRun[] = [];
  let after = '';
  for (;;) {
    const page = await journal.runs(workflowId, after, PAGE);
    for (const { run, version, head: text } of page) {
      if (isStepDb(run)) {
        dbVersions.set(run, version);
        continue;
      }
      const { status, place, position, resumed, endedAt, db } = headOf(text);
      if (db && mayBeMissing(db, dbVersions.get(db.step) ?? 0)) marked.push({ run, ...db });
      if (place === null || (place > progress.through && !done.has(place))) unconfirmed.add(run);
      if (endedAt !== null) ended.push(run);
      else if (status === 'running') running.push(run);
      if (endedAt === null)
        heads.push([run, status === 'waiting' && place !== null ? WAITING : { status, place, position, resumed }]);
    }
    const last = page.at(-1);
    if (page.length < PAGE || !last) break;
    after = last.run;
  }
  const throttle = own[THROTTLE];
  const window = throttle === undefined ? null : (JSON.parse(throttle) as ThrottleWindow);
  const lastOf = new Map(Object.entries(JSON.parse(own[LAST_RUNS] ?? '{}') as Readonly<Record<string, string>>));
  const state = { admission: loadAdmission(window, heads), starting: new Set<string>(), lastOf };
  return { state, running, ended, unconfirmed, marked };
};
