import { type DomainEvent } from '#libs/kernel/events.js';
import { type ReplayVersion } from './replay-run/begin-replay.js';

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
