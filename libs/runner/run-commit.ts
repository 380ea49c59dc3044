import { setImmediate as turn } from 'node:timers/promises';
import { type InvocationHeaders, type InvocationKind } from '../stream-log/envelopes.js';
import { type LogRecord, type StoredRecord } from '../stream-log/stream-log.js';
import { dictionary } from '../kernel/dictionary.js';
import { DbDraft } from './db-draft.js';
import { type DedupeStrategy } from '../component-model/dedupe-strategy.js';
import { type EventIds } from '../stream-log/event-ids.js';
import { type LaneTracker } from './lane-tracker.js';
import { type DedupeCache, type RunCommit, type SourceState } from './run-journal.js';
import { userError } from '../sandbox/host/process-end.js';
import { type RunnerMetrics } from './runner-ports.js';
import { type RunOutcome } from '../sandbox/sandbox.js';
import { type Execution, runResult } from './run-result.js';

/**
 * Kinds whose invocation may come twice under one id: from a router or scheduler that was restarted, or published again
 * by who was not told that it had been.
 */
export const REPEATABLE: ReadonlySet<string> = new Set<InvocationKind>(['emit', 'timer', 'hook']);

/** An invocation on its way through this process. */
export interface Invocation {
  readonly record: StoredRecord;
  readonly headers: InvocationHeaders;
  readonly ack: () => void;
  /** True once the lane that it came from is no longer this process's. */
  readonly revoked: () => boolean;
}

/** Invocations that another process, or a new start in this one, is to run: in lane order. */
export type OnConflict = (unfinished: readonly Invocation[]) => void;

export interface Finished {
  readonly execution: Execution;
  /** Undefined: done without a run (a coalesced tick, a repeat). */
  readonly outcome: RunOutcome | undefined;
  readonly invocation: Invocation | undefined;
  readonly committed: () => void;
  /** It will not be committed by this process. */
  readonly abandoned?: (reason: Error) => void;
}

export interface CommitContext {
  readonly sourceId: string;
  readonly topic: string;
  readonly strategy: DedupeStrategy | null;
  readonly state: SourceState;
  readonly tracker: LaneTracker;
  readonly eventIds: EventIds;
  readonly metrics: RunnerMetrics;
}

export interface BuiltCommit {
  readonly commit: RunCommit;
  readonly next: SourceState;
  /** A run went beyond what `$.service.db` may hold: its process goes by other limits, or has another content. */
  readonly refused: boolean;
}

/** Records put together in one turn of the event loop. */
const RECORDS_A_TURN = 256;

/**
 * Everything that these executions leave, as one commit, and the state after it. A run with many emits takes several
 * turns of the event loop. One at a time for each source.
 */
export const buildCommit = async (
  batch: readonly Finished[],
  { sourceId, topic, strategy, state, tracker, eventIds, metrics }: CommitContext,
): Promise<BuiltCommit> => {
  let caches = state.dedupe;
  const changed = dictionary<DedupeCache | null>();
  const dbChanges = dictionary<string | null>();
  const db = new DbDraft(state.db);
  let refused = false;
  const records: LogRecord[] = [];
  const inbox: string[] = [];
  for (const { execution, outcome: left, invocation } of batch) {
    if (invocation) tracker.finish(invocation.record.offset);
    if (invocation && REPEATABLE.has(invocation.headers.kind)) inbox.push(invocation.headers.id);
    if (!left) continue;
    const fault = db.apply(left.dbChanges);
    const outcome = fault === undefined ? left : withoutDb(left, fault);
    refused ||= fault !== undefined;
    const result = runResult(execution, outcome, { topic, strategy, caches, eventIds });
    caches = result.caches;
    Object.assign(changed, result.dedupe);
    Object.assign(dbChanges, outcome.dbChanges);
    for (const record of result.records) {
      if (records.push(record) % RECORDS_A_TURN === 0) await turn();
    }
    metrics.emits(result.emitted);
    metrics.duplicates(result.duplicates);
  }
  const progress = tracker.progress();
  const lastEventId = eventIds.last();
  const expectedVersion = state.version;
  return {
    commit: { sourceId, expectedVersion, progress, dedupe: changed, dbChanges, lastEventId, inbox, records },
    next: { version: expectedVersion + 1, progress, dedupe: caches, db: db.result(), lastEventId },
    refused,
  };
};

/** Its db changes are refused, and that is its error; what it emitted and logged stays. */
const withoutDb = (outcome: RunOutcome, fault: string): RunOutcome => ({
  ...outcome,
  status: outcome.status === 'ok' ? 'threw' : outcome.status,
  error: userError('DbLimitExceeded', `the changes of this run to $.service.db are refused: ${fault}`),
  dbChanges: {},
});
