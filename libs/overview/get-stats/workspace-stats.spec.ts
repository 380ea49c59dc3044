import { describe, expect, it } from '@jest/globals';
import { type CountedMinute } from '#libs/tenancy/published.js';
import { type Holdings } from '../ports.js';
import { type WaitingWork } from '../waiting-work.js';
import { type Problems } from './problems.js';
import { MOST_MINUTES, StatsOfWorkspaces } from './workspace-stats.js';

const HOLDINGS: Holdings = { sources: [{ id: 'dc_a', name: 'A' }], workflowIds: [], webhooks: [] };
const WAITING = { invocations: 1, emits: 0, deliveries: 0, oldestAt: null };

const world = () => {
  const running = { now: 0, most: 0, ends: [] as (() => void)[] };
  const read: string[] = [];
  const minutes = {
    ofMinutes: async (workspaceId: string, asked: number): Promise<readonly CountedMinute[]> => {
      read.push(`${workspaceId} ${asked}`);
      running.most = Math.max(running.most, ++running.now);
      await new Promise<void>((resolve) => running.ends.push(resolve));
      running.now--;
      return [];
    },
  };
  const waiting = { of: async () => ({ waiting: WAITING, webhookIds: ['wh_1'] }) };
  const problems = { of: async (...[, , ids]: readonly [string, Holdings, readonly string[], number]) => ids };
  const stats = new StatsOfWorkspaces(
    minutes,
    { of: async () => HOLDINGS },
    { now: () => 5 },
    waiting as unknown as WaitingWork,
    problems as unknown as Problems,
  );
  const endAll = async (): Promise<void> => {
    for (let idle = 0; idle < 10; idle++) {
      for (const end of running.ends.splice(0)) end();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { stats, running, read, endAll };
};

// docs/reference/rest-api.md#stats-once
describe('the stats of workspaces', () => {
  it('are computed once for all who ask', async () => {
    const { stats, read, endAll } = world();
    const all = Array.from({ length: 100 }, () => stats.of('o_1'));
    await endAll();
    const [first, ...others] = await Promise.all(all);
    expect(first).toEqual({
      now: 5,
      minutes: [],
      waiting: WAITING,
      sources: 1,
      webhooks: 0,
      problems: ['wh_1'],
    });
    expect(others.every((other) => other === first)).toBe(true);
    await stats.of('o_1');
    expect(read).toEqual([`o_1 ${MOST_MINUTES}`]);
  });

  it('are computed for two workspaces at a time', async () => {
    const { stats, running, read, endAll } = world();
    const all = Array.from({ length: 5 }, (_, i) => stats.of(`o_${i}`));
    await endAll();
    await Promise.all(all);
    expect([running.most, read.length]).toEqual([2, 5]);
  });
});
