import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { bulkReplay } from './bulk/bulk-replay.js';
import { type BulkReplayEvent } from './published.js';
import { workflowHistoryContext } from './context.js';

const golden = new GoldenEvents(workflowHistoryContext);
const after = (...names: GoldenName<BulkReplayEvent>[]) => golden.after(bulkReplay, ...names);

const STARTED = {
  workflowId: 'p_1k2f9x8a1b3c5d7e9f',
  runsHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  matched: 250,
  from: 'failed',
  version: 'same',
  rate: 10,
  startedAt: 1_763_712_001_000,
  next: 0,
  started: 0,
  passedOver: 0,
  state: 'running',
  endedAt: null,
};
const ADVANCED = { ...STARTED, next: 100, started: 98, passedOver: 2 };

const CASES: Record<BulkReplayEvent['type'], () => void> = {
  BulkReplayStarted: () => expect(after('BulkReplayStarted')).toEqual(STARTED),
  BulkReplayAdvanced: () => expect(after('BulkReplayStarted', 'BulkReplayAdvanced')).toEqual(ADVANCED),
  BulkReplayEnded: () =>
    expect(after('BulkReplayStarted', 'BulkReplayAdvanced', 'BulkReplayEnded')).toEqual({
      ...ADVANCED,
      state: 'cancelled',
      endedAt: 1_763_712_012_000,
    }),
};

describe('every version of an event of bulk replays', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());
});
