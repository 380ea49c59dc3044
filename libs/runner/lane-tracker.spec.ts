import { describe, expect, it } from '@jest/globals';
import { LaneTracker } from './lane-tracker.js';

const fresh = () => new LaneTracker({ through: -1, above: [] });

describe('lane tracker', () => {
  it('advances over done records up to the first gap', () => {
    const lane = fresh();
    for (const offset of [0, 1, 2, 3]) expect(lane.admit(offset)).toBe(true);
    lane.finish(2);
    expect(lane.progress()).toEqual({ through: -1, above: [2] });
    lane.finish(0);
    expect(lane.progress()).toEqual({ through: 0, above: [2] });
    lane.finish(1);
    expect(lane.progress()).toEqual({ through: 2, above: [] });
    expect(lane.outstanding()).toBe(1);
  });

  it('knows after a restart the records done above a gap, and closes the gap', () => {
    const lane = new LaneTracker({ through: 4, above: [6, 8] });
    expect([3, 5, 6, 7, 8, 9].map((offset) => lane.admit(offset))).toEqual([false, true, false, true, false, true]);
    expect(lane.isDone(6)).toBe(true);
    lane.finish(5);
    lane.finish(7);
    expect(lane.progress()).toEqual({ through: 8, above: [] });
    lane.finish(9);
    expect(lane.progress()).toEqual({ through: 9, above: [] });
  });

  it('counts a record once that is finished twice', () => {
    const lane = fresh();
    lane.admit(0);
    lane.admit(1);
    for (const offset of [0, 0, 1, 0]) lane.finish(offset);
    expect(lane.progress()).toEqual({ through: 1, above: [] });
  });

  it('admits a redelivered record that is still in flight only once', () => {
    const lane = fresh();
    expect(lane.admit(0)).toBe(true);
    expect(lane.admit(0)).toBe(false);
    expect(lane.isDone(0)).toBe(false);
  });

  it('accepts holes in the offsets', () => {
    const lane = fresh();
    lane.admit(10);
    lane.admit(20);
    lane.finish(10);
    expect(lane.progress()).toEqual({ through: 10, above: [] });
  });
});
