import { type StepSend, type StepTrigger } from '#libs/component-model/step-run.js';
import { dictionary } from '#libs/kernel/dictionary.js';
import { type Message, type MessageOrigin } from '#libs/stream-log/message-records.js';
import { objectMessage } from '#libs/stream-log/object-message.js';
import { type RunStage } from '#libs/workflow-runs/admission.js';
import { type RunFact } from '#libs/workflow-runs/run-facts.js';
import { placeOfSend } from '#libs/workflow-runs/loop-state.js';
import { type RunPlan } from '#libs/workflow-runs/run-plan.js';
import { type RunState, evolveRun, exists, hasEnded, initialRun } from '#libs/workflow-runs/run-state.js';
import { DB_CHANGES, type DbMark, runOf } from '#libs/workflow-runs/stored-run.js';
import { type DbChanges } from '../outcome/db-draft.js';
import { type RunJournal } from '../run-journal.js';

/** A run as it is stored. */
export interface BookedRun {
  readonly version: number;
  readonly state: RunState;
  /** Whether changes of `$.service.db` are stored with it. */
  readonly hasDbChanges: boolean;
}

/** The runs of one workflow that execute. All others are in the journal alone, because there may be 100,000. */
export class RunBook {
  private readonly open = new Map<string, BookedRun>();

  constructor(
    private readonly workflowId: string,
    private readonly journal: Pick<RunJournal, 'load'>,
  ) {}

  get size(): number {
    return this.open.size;
  }

  get(run: string): RunState | undefined {
    return this.open.get(run)?.state;
  }

  async load(run: string): Promise<BookedRun> {
    const known = this.open.get(run);
    if (known) return known;
    const { version, head, parts } = await this.journal.load({ executable: this.workflowId, run });
    const state = version === 0 ? initialRun : runOf({ head, parts });
    return { version, state, hasDbChanges: DB_CHANGES in parts };
  }

  put(run: string, booked: BookedRun): void {
    if (booked.state.head.status === 'running') this.open.set(run, booked);
    else this.open.delete(run);
  }
}

/** What an outcome leaves besides the facts. */
export interface StepLeft {
  /** Messages. */
  readonly sends?: readonly StepSend[] | undefined;
  /** Workflows that start unless the step failed. */
  readonly triggers?: readonly StepTrigger[] | undefined;
  /** Changes of the step's `$.service.db`, unless it failed. */
  readonly dbChanges?: DbChanges | undefined;
}

type EmittedSend = Extract<StepSend, { readonly kind: 'emit' | 'sse' }>;

/** A run within one decision, with what the decision changes in it. */
export class RunDraft {
  readonly facts: RunFact[] = [];
  /** Events that steps emit, and what they send to open streams. */
  readonly emits: { readonly execution: number; readonly index: number; readonly send: EmittedSend }[] = [];
  /** Messages that leave the server. */
  readonly messages: (Pick<MessageOrigin, 'id' | 'namespace' | 'execution' | 'index'> & {
    readonly message: Message;
  })[] = [];
  /** Workflows that steps start. */
  readonly starts: (StepTrigger & { readonly execution: number })[] = [];
  /** What the step that succeeded, or the items that did, changed in its `$.service.db`. */
  dbChanges: DbChanges | undefined;
  /** The commit of the db that follows. */
  dbMark: DbMark | undefined;
  private current: RunState;

  constructor(
    readonly run: string,
    readonly stored: BookedRun,
    /** Plan of the version that the run is pinned to or, before its start, of the deployed one. */
    readonly plan: RunPlan,
  ) {
    this.current = stored.state;
  }

  get version(): number {
    return this.stored.version;
  }

  get before(): RunState {
    return this.stored.state;
  }

  get state(): RunState {
    return this.current;
  }

  get changed(): boolean {
    return this.facts.length > 0;
  }

  /**
   * Returns whether the step or item succeeded, so that its changes of `$.service.db` are to be stored.
   *
   * @param left of the outcome that led to the facts. Without an outcome among them, nothing goes out.
   */
  add(facts: readonly RunFact[], { sends = [], triggers = [], dbChanges }: StepLeft = {}): boolean {
    // The outcome of an item may end the loop of its step, which sends nothing itself.
    const recorded = facts.find(isOutcome);
    const stored = recorded?.data.sends ?? [];
    const { executions, position } = this.current.head;
    const execution = recorded && 'execution' in recorded.data ? recorded.data.execution : executions;
    const hasSucceeded = recorded?.type === 'StepSucceeded' || recorded?.type === 'ItemSucceeded';
    const namespace = position?.namespace ?? '';
    const item = this.current.head.loop?.places.find((place) => place.execution === execution)?.index;
    for (const [index, send] of stored.length === sends.length ? sends.entries() : []) {
      if (send.kind === 'emit' || send.kind === 'sse') this.emits.push({ execution, index, send });
      else if (stored[index]?.error === undefined) {
        const id = stored[index]?.id ?? '';
        const message = send.kind === 's3' ? objectMessage(send, id, recorded?.data.at ?? 0) : send;
        this.messages.push({ id, namespace, execution, index: placeOfSend(index, item), message });
      }
    }
    if (hasSucceeded) {
      for (const trigger of triggers) this.starts.push({ ...trigger, execution });
      if (dbChanges) this.dbChanges = dictionary({ ...this.dbChanges, ...dbChanges });
    }
    this.facts.push(...facts);
    this.current = facts.reduce(evolveRun, this.current);
    return hasSucceeded;
  }
}

const OUTCOMES = ['StepSucceeded', 'StepFailed', 'ItemSucceeded', 'ItemFailed'] as const;
const isOutcome = (fact: RunFact): fact is Extract<RunFact, { readonly type: (typeof OUTCOMES)[number] }> =>
  OUTCOMES.some((type) => type === fact.type);

/** Where a run stands in its workflow. Undefined for one that has not arrived, or has ended. */
export const stageOf = (state: RunState): RunStage | undefined => {
  if (!exists(state) || hasEnded(state)) return undefined;
  const { status, position } = state.head;
  if (status === 'running' || status === 'waiting') return status;
  return position ? 'due' : 'queue';
};
