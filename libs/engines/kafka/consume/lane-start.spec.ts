import { describe, expect, it } from '@jest/globals';
import { laneStart, type LaneEnds } from './lane-start.js';
import { type Committed } from './offsets.js';

const committed = (change: Partial<Committed> = {}): Committed => ({
  next: 100,
  epoch: 4,
  topicId: 'one',
  holder: '',
  incarnation: 0,
  ...change,
});
const ends = (change: Partial<LaneEnds> = {}): LaneEnds => ({
  topicId: 'one',
  first: 7,
  end: 120,
  epochEnd: { epoch: 4, endOffset: 120 },
  ...change,
});

describe('where a lane begins', () => {
  it.each<[string, Committed | undefined, LaneEnds, object]>([
    ['at the oldest record for a new group', undefined, ends(), { next: 7, incarnation: 0 }],
    ['at the oldest record when nothing is committed', committed({ next: -1 }), ends(), { next: 7, incarnation: 0 }],
    ['at the committed offset', committed(), ends(), { next: 100, incarnation: 0 }],
    [
      'at the committed offset of its incarnation',
      committed({ incarnation: 2 }),
      ends(),
      { next: 100, incarnation: 2 },
    ],
    [
      'at the oldest record of a topic created anew',
      committed(),
      ends({ topicId: 'two' }),
      { next: 7, incarnation: 0 },
    ],
    [
      'where the log ends, when it ends before the committed offset',
      committed(),
      ends({ end: 90, epochEnd: { epoch: 4, endOffset: 90 } }),
      { next: 90, incarnation: 1, lostFrom: 90 },
    ],
    [
      'where the epoch ended, when records of a later one took the place of read ones',
      committed({ incarnation: 1 }),
      ends({ epochEnd: { epoch: 4, endOffset: 95 } }),
      { next: 95, incarnation: 2, lostFrom: 95 },
    ],
    [
      'at the oldest record of a log that is older than what was read',
      committed(),
      ends({ epochEnd: { epoch: -1, endOffset: -1 } }),
      { next: 7, incarnation: 1, lostFrom: 7 },
    ],
    [
      'at an offset that was set for the name of a topic',
      committed({ epoch: -1, topicId: undefined }),
      ends({ epochEnd: undefined }),
      { next: 100, incarnation: 0 },
    ],
    [
      'where the log ends, also for an offset that was set for the name of a topic',
      committed({ epoch: -1, topicId: undefined }),
      ends({ end: 7, epochEnd: undefined }),
      { next: 7, incarnation: 1, lostFrom: 7 },
    ],
  ])('%s', (_, group, log, start) => {
    expect(laneStart(group, log)).toEqual(start);
  });
});
