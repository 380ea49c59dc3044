import { describe, expect, it } from '@jest/globals';
import { type HandedOver } from '#libs/stream-log/handed-over.js';
import { LocalBacklog, type LocalRoles } from './local-backlog.js';

/** Counts that are the same for every source, workspace and lane. */
const handedOver = (records: number, sources: number): HandedOver =>
  ({
    recordsOf: () => records,
    recordsOfWorkspace: () => 2 * records,
    sourcesOf: () => sources,
  }) as unknown as HandedOver;

const worker = (records: number): LocalRoles['worker'] => ({
  pressure: { ofSource: () => records, ofWorkspace: () => records },
});

describe('the backlog of one process', () => {
  it('counts a role that is not bound as idle, so that the roles can start one after another', () => {
    const backlog = new LocalBacklog(handedOver(0, 1), () => 5);
    expect([backlog.waitingFor('dc_a'), backlog.unroutedOf('dc_a'), backlog.ofSource('dc_a')]).toEqual([0, 0, 0]);
    expect([backlog.queuedBytes(), backlog.sourcesOf('o_a')]).toEqual([5, 1]);
    backlog.bind({ router: { unroutedOf: () => 7 } });
    expect([backlog.waitingFor('dc_a'), backlog.unroutedOf('dc_a'), backlog.ofSource('dc_a')]).toEqual([0, 7, 7]);
    backlog.bind({ runner: { waitingFor: () => 30 } });
    expect([backlog.waitingFor('dc_a'), backlog.unroutedOf('dc_a'), backlog.ofSource('dc_a')]).toEqual([30, 7, 37]);
  });

  it('counts records that are handed over where lanes are shared, and whole deliveries', () => {
    const backlog = new LocalBacklog(handedOver(40, 3), () => 0);
    backlog.bind({ router: { unroutedOf: () => 0 }, runner: { waitingFor: () => 0 }, worker: worker(2.9) });
    expect([backlog.ofSource('dc_a'), backlog.ofWorkspace('o_a')]).toEqual([42, 82]);
    expect(backlog.sourcesOf('o_a')).toBe(3);
  });
});
