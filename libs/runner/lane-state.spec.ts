import { describe, expect, it } from '@jest/globals';
import { headOf, heardParts, laneStateOf } from './lane-state.js';

describe('what an executable carries from commit to commit', () => {
  it('is read as it was written, with the origin of what is done', () => {
    const progress = { through: 5, above: [7, 9], origin: { id: 'topic', epoch: 3 } };
    const heard = {
      'dc_a/sub_1': { through: '1-0', above: ['3-0'] },
      '__proto__/sub_1': { through: '2-0', above: [] },
    };
    const parts = { ...heardParts(heard), 'db/count': '1' } as Record<string, string>;
    const state = laneStateOf({ version: 4, head: headOf({ progress, lastEventId: '9-0' }), parts });
    expect({ ...state, heard: { ...state.heard }, own: { ...state.own } }).toEqual({
      version: 4,
      progress,
      lastEventId: '9-0',
      heard,
      own: { 'db/count': '1' },
    });
  });

  it('is nothing before the first commit', () => {
    const state = laneStateOf({ version: 0, head: '', parts: {} });
    expect(state).toMatchObject({ progress: { through: -1, above: [] }, lastEventId: '', heard: {}, own: {} });
  });

  it('names the progress that is forgotten', () => {
    expect(heardParts({ 'dc_a/sub_1': null })).toEqual({ 'heard/dc_a/sub_1': null });
  });
});
