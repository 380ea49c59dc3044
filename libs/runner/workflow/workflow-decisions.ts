import { EventIds } from '#libs/stream-log/event-ids.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { type RunOrigin } from '#libs/workflow-runs/run-facts.js';
import { type RunInput } from '#libs/workflow-runs/run-inputs.js';
import { limitError } from '#libs/workflow-runs/run-limits.js';
import { exists, initialRun, originOf } from '#libs/workflow-runs/run-state.js';
import { changedParts } from '#libs/workflow-runs/run-parts.js';
import { DB_CHANGES, headText } from '#libs/workflow-runs/stored-run.js';
import { type DbChanges } from '../outcome/db-draft.js';
import { type Cut, type Decision, type Executable } from '../executable.js';
import { type RunCommit } from '../run-journal.js';
import { type BookedRun, type RunBook, RunDraft } from './run-book.js';
import { runContext } from './run-context.js';
import { recordsOf } from './run-records.js';
import { type SteeredRun, Turn, type WorkflowState, newAlarm } from './run-turn.js';
import { StepDbs } from './step-dbs.js';
import { type WorkflowInput } from './workflow-input.js';
import { type Versions, admissionSettings, planOf } from './workflow-plan.js';
import { type RunnableWorkflow, type WorkflowRunnerDependencies } from './workflow-ports.js';

/** Part of the workflow's state with the window of its throttle. */
export const THROTTLE = 'throttle';
/** Part with the last run of each trigger that runs alone, by its id. */
export const LAST_RUNS = 'last-runs';
/** Time to wait for the event log while a workflow is unknown. */
const FOLLOW_MS = 10_000;

export interface WorkflowDecisionsOptions {
  readonly workflowId: string;
  readonly deps: WorkflowRunnerDependencies;
  readonly book: RunBook;
  readonly versions: Versions;
  readonly lastEventId: string;
  /** Runs whose arrival may come again, because the progress in the lane was not written after them. */
  readonly unconfirmed: ReadonlySet<string>;
  /** Called once the changes are durable. */
  readonly onStored: (
    drafts: readonly RunDraft[],
    startsLater: readonly string[],
    steered: readonly SteeredRun[],
  ) => void;
}

/** A workflow as an executable of the committer. */
export class WorkflowDecisions implements Executable<WorkflowState, WorkflowInput> {
  readonly id: string;
  /** The outcome of a step that the store refuses for its size fails its run. */
  readonly cuts = ['nothing', 'outcome'];
  private readonly eventIds: EventIds;
  private workflow: RunnableWorkflow | undefined;

  constructor(private readonly options: WorkflowDecisionsOptions) {
    this.id = options.workflowId;
    this.eventIds = new EventIds(options.lastEventId);
  }

  async prepare(): Promise<void> {
    const { workflows, follower } = this.options.deps;
    this.workflow = workflows.find(this.id);
    if (this.workflow) return;
    // The lane may be ahead of what this process has read of the event log.
    await follower.upToDate(FOLLOW_MS);
    this.workflow = workflows.find(this.id);
  }

  async decide(state: WorkflowState, inputs: readonly WorkflowInput[], cut: Cut): Promise<Decision<WorkflowState>> {
    const { book, onStored } = this.options;
    const { workflow } = this;
    const lastEventId = this.eventIds.last();
    const nothing = { facts: {}, records: [], alarms: [], lastEventId, runs: [], next: state };
    // It was deleted, and its state goes with it.
    if (!workflow) return nothing;
    const dbs = new StepDbs(this.id, this.options.deps.journal);
    const turn = new Turn(state, {
      settings: admissionSettings(workflow),
      mostWaiting: this.options.deps.mostWaiting,
      draftOf: (run, input) => this.draftOf(run, input),
      dbOf: (step) => dbs.of(step),
    });
    for (const input of inputs) await turn.apply(cut.level === 0 ? input : withoutOutcome(input, cut.reason));
    const drafts = turn.changed();
    const runs = drafts.map((draft) => this.commitOf(draft, workflow));
    const next = turn.state();
    const { window } = next.admission;
    const later = turn.startsLater();
    return {
      facts: {
        ...(window === state.admission.window ? {} : { [THROTTLE]: window && JSON.stringify(window) }),
        ...lastRunsOf(state, next),
      },
      records: [],
      alarms: drafts.flatMap(newAlarm),
      lastEventId: this.eventIds.last(),
      runs,
      states: dbs.commits(),
      next,
      stored: () => {
        for (const { run, stored, state: after, dbMark } of drafts)
          book.put(run, { version: stored.version + 1, state: after, hasDbChanges: dbMark !== undefined });
        onStored(drafts, later, turn.steered());
      },
    };
  }

  weightOf(input: WorkflowInput): { readonly bytes: number; readonly records: number } {
    return { bytes: input.of === 'run' ? bytesOf(input.input) + dbBytes(input.dbChanges) : 0, records: 1 };
  }

  release(): void {
    // An input has no resources.
  }

  private commitOf(draft: RunDraft, workflow: RunnableWorkflow): RunCommit {
    const { run, version, before, state, facts, plan, emits, messages, starts } = draft;
    const changed = {
      run,
      version: version + 1,
      before,
      after: state,
      facts,
      emits,
      messages,
      starts: starts.filter(({ workflowId }) => this.isKnown(workflowId)),
    };
    return {
      executable: this.id,
      run,
      expectedVersion: version,
      head: headText(state, draft.dbMark),
      parts: { ...changedParts(before, state), ...dbPartOf(draft) },
      inbox: [],
      records: recordsOf(changed, {
        topics: this.options.deps.topics,
        eventIds: this.eventIds,
        plan,
        context: runContext(state, workflow.name),
        now: this.options.deps.clock.now(),
        keepsRuns: workflow.settings.dataRetention !== 'none',
      }),
    };
  }

  /** A workflow that was deleted meanwhile has no lane. */
  private isKnown(workflowId: string): boolean {
    return this.options.deps.workflows.find(workflowId) !== undefined;
  }

  private async draftOf(run: string, input?: RunInput): Promise<RunDraft> {
    const { book, unconfirmed, versions } = this.options;
    const isNew = input?.type === 'arrive' && !unconfirmed.has(run);
    const stored = isNew ? NEW_RUN : await book.load(run);
    const { state } = stored;
    const origin = exists(state) ? originOf(state) : input?.type === 'arrive' ? input.origin : NOBODY;
    const deployed = await versions.of(state, origin);
    return new RunDraft(run, stored, planOf(deployed, origin.trigger));
  }
}

const NEW_RUN: BookedRun = { version: 0, state: initialRun, hasDbChanges: false };

const dbPartOf = ({ dbMark, dbChanges, stored }: RunDraft): RunCommit['parts'] => {
  if (dbMark) return { [DB_CHANGES]: JSON.stringify(dbChanges) };
  return stored.hasDbChanges ? { [DB_CHANGES]: null } : {};
};

/** The last runs of triggers, when they changed. */
const lastRunsOf = (before: WorkflowState, { lastOf }: WorkflowState): Decision<WorkflowState>['facts'] => {
  const changed = [...lastOf].some(([trigger, run]) => before.lastOf.get(trigger) !== run);
  return changed ? { [LAST_RUNS]: JSON.stringify(Object.fromEntries(lastOf)) } : {};
};

/** Of a run that does not exist, for which nothing is decided. */
const NOBODY: Pick<RunOrigin, 'startsWith'> & { readonly trigger: { readonly type: string } } = {
  trigger: { type: '' },
};

const dbBytes = (changes: DbChanges = {}): number =>
  Object.values(changes).reduce((sum, text) => sum + (text?.length ?? 0), 0);

const bytesOf = (input: RunInput): number => {
  if (input.type === 'arrive')
    return [
      ...input.reused.map(({ exports }) => exports?.length ?? 0),
      ...(input.kept?.items ?? []).map(({ outcome }) => outcome.length),
    ].reduce((sum, length) => sum + length, input.event.length);
  if (input.type !== 'outcome' || input.outcome.kind === 'skipped') return 0;
  if (input.outcome.kind === 'listed') return input.outcome.list.length;
  const { exports, props } = input.outcome.result;
  return Object.values(exports).reduce((sum, text) => sum + text.length, props?.length ?? 0);
};

/** The same input without what its step left, after the store refused that. */
const withoutOutcome = (input: WorkflowInput, reason: string): WorkflowInput => {
  if (input.of !== 'run' || input.input.type !== 'outcome') return input;
  const error = limitError('payload', `what this step leaves cannot be stored: ${reason}`);
  return { ...input, input: { ...input.input, outcome: { kind: 'failed', result: NO_RESULT, error } } };
};
