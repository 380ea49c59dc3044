import { type Decider } from '#libs/kernel/decider.js';
import { type IdPrefix } from '#libs/kernel/ids.js';
import {
  type BulkReplayEnded,
  type BulkReplayEvent,
  type BulkReplayProgress,
  type BulkReplayRequest,
} from '../published.js';

export const ID_PREFIX: IdPrefix = 'rpl';

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
