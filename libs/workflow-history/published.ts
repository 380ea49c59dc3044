import { type DomainEvent } from '#libs/kernel/events.js';
import { type ReplayVersion } from './replay-run/begin-replay.js';
import { type AnsweredRunRecord } from './run-reply.js';

/** What a bulk replay was asked for. */
export interface BulkReplayRequest {
  readonly workflowId: string;
  /** Blob with the JSON list of the ids of the runs, in the order in which they are replayed. */
  readonly runsHash: string;
  /** Number of those runs. */
  readonly matched: number;
  readonly from: string;
  readonly version: ReplayVersion;
  /** Runs a second. */
  readonly rate: number;
}

/** How far it has come. */
export interface BulkReplayProgress {
  /** Place in the list of the next run. */
  readonly next: number;
  readonly started: number;
  /** Runs that could not be replayed any more when their turn came. */
  readonly passedOver: number;
}

export interface BulkReplayStarted extends DomainEvent {
  readonly type: 'BulkReplayStarted';
  readonly data: BulkReplayRequest & { readonly startedAt: number };
}
export interface BulkReplayAdvanced extends DomainEvent {
  readonly type: 'BulkReplayAdvanced';
  readonly data: BulkReplayProgress & { readonly at: number };
}
export interface BulkReplayEnded extends DomainEvent {
  readonly type: 'BulkReplayEnded';
  readonly data: { readonly outcome: 'finished' | 'cancelled'; readonly at: number };
}
export type BulkReplayEvent = BulkReplayStarted | BulkReplayAdvanced | BulkReplayEnded;

/** Token under which WorkflowHistoryModule provides its ToolRuns. */
export const TOOL_RUNS = Symbol('ToolRuns');

/** Implemented by the history of runs. */
export interface ToolRuns {
  /**
   * Starts a run by a `tool` trigger. Resolves with its whole record once the run has ended or waits, or after `waitMs`.
   * Throws what the server refuses events of the workflow with.
   */
  call(call: {
    readonly workflowId: string;
    readonly workspaceId: string;
    /** Name of the trigger. */
    readonly tool: string;
    readonly event: unknown;
    readonly waitMs: number;
    /** The same for every repeat of the request. Undefined for a request that is not repeated. */
    readonly repeatId: string | undefined;
  }): Promise<AnsweredRunRecord>;
}
