import { describe, expect, it } from '@jest/globals';
import { LaneTracker, MOST_ABOVE } from './lane-tracker.js';

const fresh = () => new LaneTracker({ through: -1, above: [] });

describe('lane tracker', () => {
  it('advances over done records up to the first gap', () => {
    const lane = fresh();
    for (const offset of [0, 1, 2, 3]) expect(lane.admit({ offset })).toBe(true);
    lane.finish({ offset: 2 });
    expect(lane.progress()).toEqual({ through: -1, above: [2] });
    lane.finish({ offset: 0 });
    expect(lane.progress()).toEqual({ through: 0, above: [2] });
    lane.finish({ offset: 1 });
    expect(lane.progress()).toEqual({ through: 2, above: [] });
    expect(lane.outstanding()).toBe(1);
  });

  it('knows after a restart the records done above a gap, and closes the gap', () => {
    const lane = new LaneTracker({ through: 4, above: [6, 8] });
    expect([3, 5, 6, 7, 8, 9].map((offset) => lane.admit({ offset }))).toEqual([false, true, false, true, false, true]);
    expect(lane.isDone(6)).toBe(true);
    lane.finish({ offset: 5 });
    lane.finish({ offset: 7 });
    expect(lane.progress()).toEqual({ through: 8, above: [] });
    lane.finish({ offset: 9 });
    expect(lane.progress()).toEqual({ through: 9, above: [] });
  });

  it('counts a record once that is finished twice', () => {
    const lane = fresh();
    lane.admit({ offset: 0 });
    lane.admit({ offset: 1 });
    for (const offset of [0, 0, 1, 0]) lane.finish({ offset });
    expect(lane.progress()).toEqual({ through: 1, above: [] });
  });

  it('admits a redelivered record that is still in flight only once', () => {
    const lane = fresh();
    expect(lane.admit({ offset: 0 })).toBe(true);
    expect(lane.admit({ offset: 0 })).toBe(false);
    expect(lane.isDone(0)).toBe(false);
  });

  it('returns the progress after more records without counting them as done', () => {
    const lane = fresh();
    for (const offset of [0, 1, 2, 3]) lane.admit({ offset });
    lane.finish({ offset: 2 });
    expect(lane.progressAfter([{ offset: 0 }, { offset: 1 }])).toEqual({ through: 2, above: [] });
    expect(lane.progress()).toEqual({ through: -1, above: [2] });
    expect(lane.progressAfter([{ offset: 3 }])).toEqual({ through: -1, above: [2, 3] });
  });

  it('is held by the oldest record in flight while many are done beyond it', () => {
    const lane = fresh();
    for (let offset = 0; offset <= MOST_ABOVE; offset++) lane.admit({ offset });
    for (let offset = 1; offset < MOST_ABOVE; offset++) lane.finish({ offset });
    expect(lane.heldBy()).toBeUndefined();
    lane.finish({ offset: MOST_ABOVE });
    expect(lane.heldBy()).toBe(0);
    lane.finish({ offset: 0 });
    expect(lane.heldBy()).toBeUndefined();
  });

  it('accepts holes in the offsets', () => {
    const lane = fresh();
    lane.admit({ offset: 10 });
    lane.admit({ offset: 20 });
    lane.finish({ offset: 10 });
    expect(lane.progress()).toEqual({ through: 10, above: [] });
  });

  describe('when the log assigns offsets again', () => {
    const at = (offset: number, epoch: number, id = 'one') => ({ offset, origin: { id, epoch } });

    it('runs records that took the place of done ones, and forgets what was done above them', () => {
      const lane = new LaneTracker({ through: 10, above: [12], origin: { id: 'one', epoch: 3 } });
      expect(lane.admit(at(9, 3))).toBe(false);
      expect([at(8, 4), at(9, 4), at(10, 4), at(11, 4), at(12, 4)].map((each) => lane.admit(each))).toEqual(
        all(5, () => true),
      );
      lane.finish(at(8, 4));
      expect(lane.progress()).toEqual({ through: 8, above: [], origin: { id: 'one', epoch: 4 } });
    });

    it('runs the records of another log, whatever their offsets and epochs', () => {
      const lane = new LaneTracker({ through: 10, above: [], origin: { id: 'one', epoch: 3 } });
      expect(lane.admit(at(0, 0, 'two'))).toBe(true);
      lane.finish(at(0, 0, 'two'));
      expect(lane.progress()).toEqual({ through: 0, above: [], origin: { id: 'two', epoch: 0 } });
    });

    it('continues after a change of the leader, and knows redelivered records of earlier ones', () => {
      const lane = new LaneTracker({ through: 10, above: [], origin: { id: 'one', epoch: 3 } });
      expect(lane.admit(at(11, 5))).toBe(true);
      lane.finish(at(11, 5));
      expect([at(10, 3), at(11, 5)].map((each) => lane.admit(each))).toEqual([false, false]);
      expect(lane.progress()).toEqual({ through: 11, above: [], origin: { id: 'one', epoch: 5 } });
    });

    it('runs the records of a log that ends before what is done, as one restored from a copy does', () => {
      const lane = new LaneTracker({ through: 10, above: [], origin: { id: 'one', epoch: 3 } });
      expect(lane.admit(at(8, 3), 11)).toBe(false);
      expect(lane.admit(at(8, 3), 10)).toBe(true);
      expect(lane.admit(at(9, 3), 10)).toBe(true);
    });
  });
});

const all = <T>(count: number, of: () => T): T[] => Array.from({ length: count }, of);
