import { describe, expect, it } from '@jest/globals';
import { history } from '#libs/kernel/testing/recorded.js';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { bulkReplay } from './bulk-replay.js';
import { type BulkReplayEvent, type BulkReplayRequest } from '../published.js';
import { BulkReplaysView } from './bulk-replays-view.js';

const request: BulkReplayRequest = {
  workflowId: 'p_1',
  runsHash: 'h',
  matched: 3,
  from: 'start',
  version: 'current',
  rate: 10,
};
const started: BulkReplayEvent = { type: 'BulkReplayStarted', data: { ...request, startedAt: 1 } };
const advanced = (next: number): BulkReplayEvent => ({
  type: 'BulkReplayAdvanced',
  data: { next, started: next, passedOver: 0, at: 2 },
});
const ended = (outcome: 'finished' | 'cancelled', at = 3): BulkReplayEvent => ({
  type: 'BulkReplayEnded',
  data: { outcome, at },
});
const start = { type: 'start', request, now: 1 } as const;
const advance = (next: number) =>
  ({ type: 'advance', progress: { next, started: next, passedOver: 0 }, now: 2 }) as const;
const end = (outcome: 'finished' | 'cancelled') => ({ type: 'end', outcome, now: 3 }) as const;

describe('a bulk replay', () => {
  it('starts once', () => {
    given(bulkReplay).when(start).then(started);
    given(bulkReplay, [started]).when(start).then();
  });

  it('only advances, also by what had begun when it was cancelled', () => {
    given(bulkReplay, [started]).when(advance(2)).then(advanced(2));
    given(bulkReplay, [started, advanced(2)])
      .when(advance(2))
      .then();
    given(bulkReplay, [started, advanced(2)])
      .when(advance(1))
      .then();
    given(bulkReplay, [started, ended('cancelled')])
      .when(advance(1))
      .then(advanced(1));
    given(bulkReplay).when(advance(1)).then();
  });

  it('ends once', () => {
    given(bulkReplay, [started]).when(end('finished')).then(ended('finished'));
    given(bulkReplay, [started, ended('cancelled')])
      .when(end('finished'))
      .then();
    given(bulkReplay).when(end('cancelled')).then();
  });
});

describe('the view of bulk replays', () => {
  const DAY_MS = 86_400_000;
  const viewAt = (now: () => number, ...entries: [string, BulkReplayEvent][]): BulkReplaysView => {
    const view = new BulkReplaysView({ now });
    for (const event of history(...entries.map(([id, event]) => [`bulk_replay-${id}`, event] as const)))
      view.apply(event);
    return view;
  };

  it('has those that run, with who started them, and those that ended within a day', () => {
    let now = 4;
    const view = viewAt(() => now, ['rpl_1', started], ['rpl_2', started], ['rpl_2', ended('finished')]);
    expect(view.running().map(({ id }) => id)).toEqual(['rpl_1']);
    expect(view.countRunning('o_1')).toBe(1);
    expect(view.countRunning('o_2')).toBe(0);
    expect(view.find('rpl_2')).toMatchObject({ by: { userId: 'u_1' }, replay: { state: 'finished' } });
    now = 3 + DAY_MS + 1;
    expect(view.find('rpl_2')).toBeUndefined();
    expect(view.find('rpl_1')).toBeDefined();
  });

  it('keeps the newest 200 of a workspace that have ended', () => {
    const entries = Array.from({ length: 201 }, (_, n): [string, BulkReplayEvent][] => [
      [`rpl_${n}`, started],
      [`rpl_${n}`, ended('finished')],
    ]);
    const view = viewAt(() => 4, ['rpl_runs', started], ...entries.flat());
    expect([view.find('rpl_0'), view.find('rpl_1')?.id, view.find('rpl_runs')?.id]).toEqual([
      undefined,
      'rpl_1',
      'rpl_runs',
    ]);
  });
});
