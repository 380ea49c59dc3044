import { describe, expect, it } from '@jest/globals';
import { pausesOf, type Gap, type ThreadNotes } from './pause-causes.js';

const GAP: Gap = { at: 100, ms: 20, ran: 20, ready: 0 };
const causes = (gap: Partial<Gap>, notes: Partial<ThreadNotes> = {}) =>
  pausesOf({ thread: 'main', gaps: [{ ...GAP, ...gap }], collections: [], samples: [], ...notes });

describe('the cause of a pause', () => {
  it.each([
    ['code', { ran: 20 }],
    ['no free core', { ran: 4, ready: 12 }],
    ['blocked', { ran: 2, ready: 3 }],
  ])('is its largest part: %s', (cause, gap) => {
    expect(causes(gap)).toEqual([{ at: 100, ms: 20, thread: 'main', cause, detail: '' }]);
  });

  it('is garbage when collections within it took longer than all else', () => {
    const collections = [
      { at: 90, ms: 14, kind: 'scavenge' },
      { at: 110, ms: 8, kind: 'mark-compact' },
      { at: 300, ms: 90, kind: 'scavenge' },
    ];
    expect(causes({}, { collections })).toMatchObject([{ cause: 'garbage', detail: 'mark-compact' }]);
    // Only the part within the pause counts.
    expect(causes({}, { collections: collections.slice(0, 1) })).toMatchObject([{ cause: 'code' }]);
  });

  it('names the functions of a profile in which the thread was most often, of this pause alone', () => {
    const names = ['before', 'a', 'b', 'b', 'c', 'c', 'c', 'd', 'd', 'd', 'd'];
    const samples = names.map((name, n) => ({ at: 99 + n, name }));
    samples.push({ at: 120, name: 'after' });
    expect(causes({ ran: 5 }, { samples })).toMatchObject([{ cause: 'blocked', detail: 'd, c, b' }]);
  });
});
