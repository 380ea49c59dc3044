import { type InvocationHeaders, type InvocationKind } from '../stream-log/envelopes.js';
import { type LogRecord, type StoredRecord } from '../stream-log/stream-log.js';
import { type DedupeStrategy } from './dedupe.js';
import { type EventIds } from './emit-ids.js';
import { type LaneTracker } from './lane-tracker.js';
import { type DedupeCache, type RunCommit, type SourceState } from './run-journal.js';
import { type RunnerMetrics } from './runner-ports.js';
import { type RunOutcome } from './sandbox.js';
import { type Execution, settleRun } from './settle-run.js';

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

/** Everything that these executions leave, as one commit, and the state after it. */
export const buildCommit = (
  batch: readonly Finished[],
  { sourceId, topic, strategy, state, tracker, eventIds, metrics }: CommitContext,
): { commit: RunCommit; next: SourceState } => {
  const caches: Record<string, DedupeCache> = { ...state.dedupe };
  const changed: Record<string, DedupeCache> = {};
  const dbChanges: Record<string, string | null> = {};
  const records: LogRecord[] = [];
  const inbox: string[] = [];
  for (const { execution, outcome, invocation } of batch) {
    if (invocation) tracker.finish(invocation.record.offset);
    if (invocation && REPEATABLE.has(invocation.headers.kind)) inbox.push(invocation.headers.id);
    if (!outcome) continue;
    const settled = settleRun(execution, outcome, { topic, strategy, caches, eventIds });
    Object.assign(caches, settled.dedupe);
    Object.assign(changed, settled.dedupe);
    Object.assign(dbChanges, outcome.dbChanges);
    records.push(...settled.records);
    metrics.emits(settled.emitted);
    metrics.duplicates(settled.duplicates);
  }
  const progress = tracker.progress();
  const lastEventId = eventIds.last();
  const expectedVersion = state.version;
  return {
    commit: { sourceId, expectedVersion, progress, dedupe: changed, dbChanges, lastEventId, inbox, records },
    next: { version: expectedVersion + 1, progress, dedupe: caches, db: withChanges(state.db, dbChanges), lastEventId },
  };
};

const withChanges = (
  db: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> => {
  const entries = Object.entries(changes);
  if (entries.length === 0) return db;
  const next = { ...db };
  for (const [key, value] of entries) {
    if (value === null) delete next[key];
    else next[key] = value;
  }
  return next;
};
