import { type Decider } from '#libs/kernel/decider.js';
import { type DomainEvent } from '#libs/kernel/events.js';
import { type IdPrefix } from '#libs/kernel/ids.js';
import { type ReplayVersion } from '../replay-run/begin-replay.js';

export const ID_PREFIX: IdPrefix = 'rpl';

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

export type BulkReplayCommand =
  | { readonly type: 'start'; readonly request: BulkReplayRequest; readonly now: number }
  | { readonly type: 'advance'; readonly progress: BulkReplayProgress; readonly now: number }
  | { readonly type: 'end'; readonly outcome: BulkReplayEnded['data']['outcome']; readonly now: number };

export interface StartedBulkReplay extends BulkReplayRequest, BulkReplayProgress {
  readonly startedAt: number;
  readonly state: 'running' | 'finished' | 'cancelled';
  readonly endedAt: number | null;
}

/** Null before it starts. */
export type BulkReplayState = StartedBulkReplay | null;

/** docs/reference/workflows.md#bulk-replay. A repeat of a command, and one for a replay that is not there, is a no-op. */
export const bulkReplay: Decider<BulkReplayCommand, BulkReplayEvent, BulkReplayState> = {
  category: 'bulk_replay',
  initialState: () => null,

  decide(command, state): BulkReplayEvent[] {
    const { now } = command;
    switch (command.type) {
      case 'start':
        return state ? [] : [{ type: 'BulkReplayStarted', data: { ...command.request, startedAt: now } }];
      case 'advance': {
        // Also once it is cancelled: what was begun until then counts.
        const { progress } = command;
        return state && progress.next > state.next
          ? [{ type: 'BulkReplayAdvanced', data: { ...progress, at: now } }]
          : [];
      }
      case 'end': {
        const { outcome } = command;
        return state?.state === 'running' ? [{ type: 'BulkReplayEnded', data: { outcome, at: now } }] : [];
      }
    }
  },

  evolve(state, event): BulkReplayState {
    switch (event.type) {
      case 'BulkReplayStarted':
        return { ...event.data, next: 0, started: 0, passedOver: 0, state: 'running', endedAt: null };
      case 'BulkReplayAdvanced': {
        const { next, started, passedOver } = event.data;
        return state && { ...state, next, started, passedOver };
      }
      case 'BulkReplayEnded': {
        const { outcome, at } = event.data;
        return state && { ...state, state: outcome, endedAt: at };
      }
    }
  },
};
