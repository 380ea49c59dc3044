import { type DueEntry } from '#libs/due/due-store.js';
import { userError } from '#libs/sandbox/index.js';
import { alarmInvocation } from '#libs/stream-log/invocations.js';
import {
  type AdmissionInput,
  type AdmissionSettings,
  type AdmissionState,
  type RunStage,
  admissionDecider,
} from '#libs/workflow-runs/admission.js';
import { runDecider } from '#libs/workflow-runs/run-decider.js';
import { type InputOf, type RunInput } from '#libs/workflow-runs/run-inputs.js';
import { exists, hasEnded, originOf } from '#libs/workflow-runs/run-state.js';
import { alarmOf, steeringResult, type SteeringAnswer } from '#libs/workflow-runs/run-steering.js';
import { type RunDraft, type StepLeft, stageOf } from './run-book.js';
import { type StepDbDraft } from './step-dbs.js';
import { type WorkflowInput } from './workflow-input.js';

/** State of a workflow between commits, besides its place in the lane. */
export interface WorkflowState {
  readonly admission: AdmissionState;
  /** Runs that are admitted, and start once their places in the throttle are durable. */
  readonly starting: ReadonlySet<string>;
  /** The last run of each timer. */
  readonly lastOf: ReadonlyMap<string, string>;
}

export interface TurnOptions {
  readonly settings: AdmissionSettings;
  /** Most runs that may wait. */
  readonly mostWaiting: number;
  /** @param input the arrival of a run that may not exist yet */
  readonly draftOf: (run: string, input?: RunInput) => Promise<RunDraft>;
  /** @param step id of a step */
  readonly dbOf: (step: string) => Promise<StepDbDraft>;
}

/** A request to cancel or resume, with what it did to its run. */
export interface SteeredRun {
  readonly address: string;
  readonly invocation: string;
  readonly draft: RunDraft;
  readonly result: SteeringAnswer['result'];
}

/** Decides on the inputs of one commit. All of it is pure but for the reads of runs. */
export class Turn {
  private readonly drafts = new Map<string, RunDraft>();
  private readonly steeredRuns: SteeredRun[] = [];
  private readonly starting: Set<string>;
  private readonly lastOf: Map<string, string>;
  private admission: AdmissionState;

  constructor(
    private readonly before: WorkflowState,
    private readonly options: TurnOptions,
  ) {
    this.admission = before.admission;
    this.starting = new Set(before.starting);
    this.lastOf = new Map(before.lastOf);
  }

  async apply(input: WorkflowInput): Promise<void> {
    switch (input.of) {
      case 'nothing':
        return;
      case 'review':
        return this.admit([{ type: 'review', now: input.now }], input.now);
      case 'starts':
        for (const run of input.runs) {
          this.starting.delete(run);
          await this.start(run, input.now);
        }
        return;
      case 'run':
        await this.noteSteering(input);
        if (isTick(input) && !(await this.takeTurnOfTimer(input))) return;
        return this.decide(input.run, input.input, input);
    }
  }

  /** Runs that changed. */
  changed(): readonly RunDraft[] {
    return [...this.drafts.values()].filter(({ changed }) => changed);
  }

  /** Requests whose callers wait for an answer. */
  steered(): readonly SteeredRun[] {
    return this.steeredRuns;
  }

  state(): WorkflowState {
    return { admission: this.admission, starting: this.starting, lastOf: this.lastOf };
  }

  /** Runs that this turn admitted, and that start once it is durable. */
  startsLater(): readonly string[] {
    return [...this.starting].filter((run) => !this.before.starting.has(run));
  }

  private async noteSteering({ run, input, invocation }: Extract<WorkflowInput, { of: 'run' }>): Promise<void> {
    if (!invocation || invocation.headers.respond === '' || (input.type !== 'resume' && input.type !== 'cancel'))
      return;
    const { id, respond: address } = invocation.headers;
    const draft = await this.draft(run);
    this.steeredRuns.push({ address, invocation: id, draft, result: steeringResult(draft.state, input) });
  }

  /**
   * Whether a tick begins a run. It takes the place of the tick before it that is still in the queue. With `alone` it
   * begins none while a run of its timer goes on. A run that its journal has dropped has ended.
   */
  private async takeTurnOfTimer({ run, input, alone }: Tick): Promise<boolean> {
    if (!this.options.settings.active) return true;
    const timer = `${input.origin.trigger.id ?? ''}${alone === true ? '' : OVERLAPPING}`;
    const last = this.lastOf.get(timer);
    if (last !== undefined && last !== run) {
      const draft = await this.draft(last);
      const { state } = draft;
      const goesOn = exists(state) && !hasEnded(state);
      if (goesOn && alone === true) return false;
      const isQueued = stageOf(state) === 'queue' && !this.starting.has(last);
      if (isQueued) await this.change(draft, { ...SUPERSEDED, now: input.now });
    }
    this.lastOf.set(timer, run);
    return true;
  }

  private async decide(run: string, given: RunInput, left: StepLeft): Promise<void> {
    const draft = await this.draft(run, given);
    const isDropped =
      given.type === 'arrive' && given.place !== null && !this.options.settings.active && !given.notrigger;
    if (isDropped) return;
    const db = await this.dbOf(draft, left);
    const input = this.withRoom(withinLimit(given, left.dbChanges && db?.limitOf(left.dbChanges)));
    const hasSucceeded = await this.change(draft, input, { left });
    if (db && left.dbChanges && hasSucceeded) draft.dbMark = db.apply(run, left.dbChanges);
    // A run outside of the queue starts at once.
    const { head } = draft.state;
    const isQueued = exists(draft.state) && head.place === null && head.status === 'queued';
    if (isQueued) await this.change(draft, { type: 'start', now: input.now });
  }

  /** The db that an outcome changes. */
  private async dbOf({ plan, state }: RunDraft, { dbChanges }: StepLeft): Promise<StepDbDraft | undefined> {
    const step = plan.steps.find(({ namespace }) => namespace === state.head.position?.namespace);
    return dbChanges && step ? this.options.dbOf(step.id) : undefined;
  }

  private withRoom(input: RunInput): RunInput {
    if (input.type !== 'outcome' && input.type !== 'interrupt') return input;
    return { ...input, mayWait: this.admission.waiting < this.options.mostWaiting };
  }

  private async start(run: string, now: number): Promise<void> {
    const draft = await this.draft(run);
    await this.change(draft, { type: 'start', now }, { admitted: 'running' });
  }

  /** Decides on one run, and on what that means for the others. Returns whether an outcome among the facts is a success. */
  private async change(
    draft: RunDraft,
    input: RunInput,
    { admitted, left = {} }: { readonly admitted?: 'running'; readonly left?: StepLeft } = {},
  ): Promise<boolean> {
    const stage = admitted ?? (this.starting.has(draft.run) ? 'running' : stageOf(draft.state));
    const hasSucceeded = draft.add(runDecider(draft.plan).decide(input, draft.state), left);
    if (!exists(draft.state) || draft.state.head.place === null) return hasSucceeded;
    if (hasEnded(draft.state)) this.starting.delete(draft.run);
    await this.admit(movesOf(draft, stage, input.now), input.now);
    return hasSucceeded;
  }

  private async admit(inputs: readonly AdmissionInput[], now: number): Promise<void> {
    const decider = admissionDecider(this.options.settings);
    for (const input of inputs) {
      const facts = decider.decide(input, this.admission);
      this.admission = facts.reduce((state, fact) => decider.evolve(state, fact), this.admission);
      const isThrottled = facts.some(({ type }) => type === 'ThrottleWindowChanged');
      for (const fact of facts) {
        if (fact.type === 'RunRefused') {
          const refused = await this.draft(fact.data.run);
          const { queueSize } = this.options.settings;
          refused.add(runDecider(refused.plan).decide({ type: 'refuse', now, queueSize }, refused.state));
        } else if (fact.type === 'RunsAdmitted') {
          const { runs, from } = fact.data;
          if (isThrottled && from === 'queue') for (const run of runs) this.starting.add(run);
          else for (const run of runs) await this.start(run, now);
        }
      }
    }
  }

  private async draft(run: string, input?: RunInput): Promise<RunDraft> {
    const known = this.drafts.get(run) ?? (await this.options.draftOf(run, input));
    this.drafts.set(run, known);
    return known;
  }
}

type Tick = Extract<WorkflowInput, { of: 'run' }> & { readonly input: InputOf<'arrive'> };

/** Whether an input is a tick of a timer in its place in the lane, and neither a test nor a replay. */
const isTick = (given: Extract<WorkflowInput, { of: 'run' }>): given is Tick => {
  const { input } = given;
  if (input.type !== 'arrive' || input.place === null) return false;
  return input.origin.sourceType === 'TIMER' && input.origin.replayOf === null;
};

/** Keeps runs that may overlap apart from the one that goes on alone, because a timer may change from one to the other. */
const OVERLAPPING = '/allow';

const SUPERSEDED = { type: 'cancel', execution: null, reason: 'superseded', by: null } as const;

/** Runs that overlap may exceed a limit together that each alone keeps. */
const withinLimit = (input: RunInput, limit: string | undefined): RunInput => {
  if (limit === undefined || input.type !== 'outcome' || input.outcome.kind !== 'succeeded') return input;
  const error = userError('DbLimitExceeded', `the changes of this step to $.service.db are refused: ${limit}`);
  return { ...input, outcome: { kind: 'failed', result: input.outcome.result, error } };
};

/** What a run's way from one stage to where it is now means for its workflow. */
const movesOf = (draft: RunDraft, from: RunStage | undefined, now: number): AdmissionInput[] => {
  const { run, state } = draft;
  const to = stageOf(state);
  if (from === to) return [];
  if (from === undefined) return to === 'queue' ? [{ type: 'arrive', now, run, place: state.head.place ?? 0 }] : [];
  const pause: AdmissionInput = { type: 'pause', now, count: 1 };
  const due: AdmissionInput = { type: 'due', now, runs: [run] };
  if (to === undefined) return [{ type: 'end', now, runs: [run], from }];
  if (from === 'running' && to === 'waiting') return [pause];
  // A resume that came before the wait ended it at once.
  if (from === 'running' && to === 'due') return [pause, due];
  return from === 'waiting' && to === 'due' ? [due] : [];
};

/** The alarm of a wait that began. */
export const newAlarm = ({ run, before, state }: RunDraft): readonly DueEntry[] => {
  const alarm = alarmOf(run, state);
  if (!alarm || alarm.id === (before.head.wait ? alarmOf(run, before)?.id : undefined)) return [];
  const { workflowId, ownerId } = originOf(state);
  const call = { workflowId, workspaceId: ownerId, runId: run, execution: state.head.executions, now: alarm.dueAt };
  return [{ ...alarm, owner: workflowId, kind: 'run', record: alarmInvocation(call) }];
};
