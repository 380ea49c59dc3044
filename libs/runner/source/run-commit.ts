import { setImmediate as turn } from 'node:timers/promises';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { dictionary } from '#libs/kernel/dictionary.js';
import { type Decision, type Input } from '../executable.js';
import { DbDraft } from '../outcome/db-draft.js';
import { applyDb, withoutDb } from '../outcome/refused-db.js';
import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { withinDelayedLimits } from '../outcome/delayed-limit.js';
import { type EventIds } from '#libs/stream-log/event-ids.js';
import { countsIn, countsText, withCounted } from '#libs/stream-log/hour-counts.js';
import { runsRecord, type SourceRun } from '#libs/stream-log/source-runs.js';
import { userError, type RunOutcome } from '#libs/sandbox/index.js';
import { type RunnerMetrics } from '../runner-ports.js';
import { type EmitCall, type UserError } from '#libs/component-model/run-output.js';
import { listedRun } from './listed-run.js';
import { type Execution, runResult } from './run-result.js';
import { type DedupeCache } from '../outcome/dedupe-cache.js';
import { partsOf, type SourceState } from './source-state.js';
import { type CommitRoutes, isEmit } from '../source-routing.js';

/** A finished execution, or an arrival that is done without an execution. */
export interface Finished extends Input {
  readonly execution: Execution;
  /** Undefined when done without a run (a coalesced tick, a repeat). */
  readonly outcome: RunOutcome | undefined;
  /** How often the run was started. Default: once. */
  readonly attempts?: number;
}

export interface DecisionContext {
  readonly sourceId: string;
  readonly topic: string;
  readonly strategy: DedupeStrategy | null;
  readonly state: SourceState;
  readonly eventIds: EventIds;
  readonly metrics: Pick<RunnerMetrics, 'emits' | 'duplicates'>;
  readonly delayed: Pick<DelayedEvents, 'usage'>;
  /** Absent when the router routes the emits. */
  readonly routes?: Pick<CommitRoutes, 'route'> | undefined;
}

export interface SourceDecision extends Decision<SourceState> {
  /**
   * Errors of the executions that exceeded the limits of `$.service.db`, whose process therefore has uncommitted
   * content. Undefined when there are none.
   */
  readonly refused: ReadonlyMap<Finished, UserError> | undefined;
}

/**
 * What a commit leaves out when the store refuses it for its size. Each level leaves out the previous ones too: changes
 * of `$.service.db`, the ids that deduplication remembers, emits and log lines.
 */
export const CUTS = ['nothing', 'db', 'dedupe', 'output'] as const;
export type Cut = (typeof CUTS)[number];

/** Number of records of runs that are built in one turn of the event loop. */
const RECORDS_A_TURN = 256;

/**
 * Decides on the records and the state that these executions leave. A run with many emits needs several turns of the
 * event loop. Call it for one batch of a source at a time. With a cut the batch has one execution, which gets an error
 * that names `reason`.
 */
export const decideRuns = async (
  batch: readonly Finished[],
  { sourceId, topic, strategy, state, eventIds, metrics, delayed, routes }: DecisionContext,
  cut: Cut = 'nothing',
  reason = '',
): Promise<SourceDecision> => {
  // Read before anything changes, because a failed read builds the batch again.
  let usage = batch.some(({ outcome }) => outcome?.delays) ? await delayed.usage(sourceId) : undefined;
  let caches = state.dedupe;
  const changed = dictionary<DedupeCache | null>();
  const dbChanges = dictionary<string | null>();
  const db = new DbDraft(state.db);
  let refused: Map<Finished, UserError> | undefined;
  let dropped: Set<EmitCall> | undefined;
  const records: LogRecord[] = [];
  const runs: SourceRun[] = [];
  let counts = countsIn(state.counts ?? '');
  let built = 0;
  for (const finished of batch) {
    const { execution, outcome: left } = finished;
    if (!left) continue;
    const error = cut === 'nothing' ? applyDb(db, left.dbChanges) : tooLarge(cut, reason);
    let outcome = left;
    if (error) {
      outcome = withoutDb(cut === 'output' ? { ...left, emits: [], logs: [] } : left, error);
      refused ??= new Map();
      refused.set(finished, error);
    }
    if (usage && outcome.delays && execution.emits) ({ outcome, usage } = withinDelayedLimits(outcome, usage));
    const result = runResult(execution, outcome, { topic, strategy, caches, eventIds });
    caches = result.caches;
    Object.assign(changed, result.dedupe);
    Object.assign(dbChanges, outcome.dbChanges);
    const run = listedRun(finished, outcome);
    for (const record of result.records) {
      run.count(record.headers);
      records.push(...((isEmit(record) && routes?.route(record)) || [record]));
      if (++built % RECORDS_A_TURN === 0) await turn();
    }
    metrics.emits(result.emitted, execution.workspaceId);
    metrics.duplicates(result.duplicates);
    runs.push(...run.end());
    for (const emit of result.dropped) (dropped ??= new Set()).add(emit);
    counts = withCounted(counts, outcome.endedAt, { events: run.events(), errors: outcome.error ? 1 : 0 });
  }
  const workspaceId = batch.find(({ outcome }) => outcome)?.execution.workspaceId ?? '';
  const counted = countsText(counts);
  if (runs.length > 0) records.push(runsRecord({ topic, sourceId, workspaceId, counts: counted }, runs));
  const forgets = cut === 'dedupe' || cut === 'output';
  const dedupe = forgets ? allRemoved(state.dedupe) : withoutAbsent(changed, state.dedupe);
  return {
    facts: partsOf({ dedupe, db: withoutAbsent(dbChanges, state.db) }),
    records,
    // A delayed event is a record of the emitter's topic. The router stores it with its alarm (docs/adr/0027).
    alarms: [],
    lastEventId: eventIds.last(),
    dropped,
    counts: counted,
    next: { dedupe: forgets ? {} : caches, db: db.result(), counts: counted },
    refused,
  };
};

type Changes<T> = Readonly<Record<string, T | null>>;

/** Leaves out removals of names that are not stored, of which a batch may have many. */
const withoutAbsent = <T>(changes: Changes<T>, stored: Readonly<Record<string, T>>): Changes<T> => {
  const kept = dictionary<T | null>();
  for (const [name, value] of Object.entries(changes)) {
    if (value !== null || Object.hasOwn(stored, name)) kept[name] = value;
  }
  return kept;
};

const allRemoved = <T>(stored: Readonly<Record<string, T>>): Changes<T> => {
  const removed = dictionary<T | null>();
  for (const name of Object.keys(stored)) removed[name] = null;
  return removed;
};

const LOST: Readonly<Record<Exclude<Cut, 'nothing'>, string>> = {
  db: 'its changes to $.service.db are refused',
  dedupe: 'its changes to $.service.db are refused, and the ids that deduplication remembered are forgotten',
  output: 'its emits, log lines and changes to $.service.db are lost, and the ids that deduplication remembered',
};

const tooLarge = (cut: Exclude<Cut, 'nothing'>, reason: string): UserError =>
  userError('StateLimitExceeded', `what this run leaves cannot be stored, so ${LOST[cut]}: ${reason}`);
