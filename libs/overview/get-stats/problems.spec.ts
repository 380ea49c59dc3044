import { describe, expect, it } from '@jest/globals';
import { type Holdings } from '../ports.js';
import { MOST_PROBLEMS, Problems, type ProblemsOptions } from './problems.js';

const NOW = Date.UTC(2026, 0, 2);
const HOUR = 3_600_000;
const NONE: Holdings = { sources: [], workflowIds: [], webhooks: [] };

const problems = (over: Partial<ProblemsOptions> = {}) =>
  new Problems({
    failures: async (ids) => ids.map(() => ({ errors: 0, lastErrorAt: null })),
    deliveries: { of: async (ids) => ids.map(() => ({ isFailing: false, failed: 0, lastAttemptAt: null })) },
    accounts: { of: async () => [] },
    refusals: { quotaOf: async () => undefined, disk: () => undefined },
    ...over,
  });

const webhook = (id: string, disabledReason: string | null = null) => ({
  id,
  name: id.toUpperCase(),
  disabledReason,
  updatedAt: NOW - HOUR,
});

// docs/reference/rest-api.md#stats-problems
describe('what someone should attend to', () => {
  it('is nothing where all is well', async () => {
    const holdings = { ...NONE, sources: [{ id: 'dc_a', name: 'A' }], webhooks: [webhook('wh_a')] };
    expect(await problems().of('o_1', holdings, ['wh_a'], NOW)).toEqual([]);
  });

  it('begins with what is so now, and goes on with the newest', async () => {
    const failing = problems({
      failures: async () => [{ errors: 2, lastErrorAt: NOW - 2 * HOUR }],
      deliveries: { of: async () => [{ isFailing: true, failed: 3, lastAttemptAt: NOW - 1 }] },
      accounts: {
        of: async () => [{ id: 'apn_1', name: 'Mail', app: 'mail', reason: 'revoked', expiredAt: NOW - 3 * HOUR }],
      },
      refusals: { quotaOf: async () => 'no credits', disk: () => 'disk full' },
    });
    const webhooks = [webhook('wh_a'), webhook('wh_b', 'status 410'), webhook('wh_c')];
    const found = await failing.of('o_1', { ...NONE, sources: [{ id: 'dc_a', name: 'A' }], webhooks }, ['wh_a'], NOW);
    expect(found).toEqual([
      { kind: 'disk_low', subject: 'o_1', name: null, message: 'disk full', since: null },
      { kind: 'quota_exceeded', subject: 'o_1', name: null, message: 'no credits', since: null },
      {
        kind: 'webhook_failing',
        subject: 'wh_a',
        name: 'WH_A',
        message: 'deliveries to it wait; 3 were given up in 24 hours',
        since: NOW - 1,
      },
      {
        kind: 'webhook_disabled',
        subject: 'wh_b',
        name: 'WH_B',
        message: 'the server disabled it: status 410',
        since: NOW - HOUR,
      },
      { kind: 'source_failing', subject: 'dc_a', name: 'A', message: '2 errors in 24 hours', since: NOW - 2 * HOUR },
      {
        kind: 'account_not_refreshed',
        subject: 'apn_1',
        name: 'Mail',
        message: 'the account of mail must be connected again: revoked',
        since: NOW - 3 * HOUR,
      },
    ]);
  });

  it('leaves out errors of another day, and has a limit', async () => {
    const asked: number[] = [];
    const old = problems({
      failures: async (ids) => {
        asked.push(ids.length);
        return ids.map((id) => ({ errors: 1, lastErrorAt: NOW - (id === 'dc_0' ? 25 * HOUR : HOUR) }));
      },
    });
    const sources = Array.from({ length: 700 }, (_, i) => ({ id: `dc_${i}`, name: 'S' }));
    const found = await old.of('o_1', { ...NONE, sources }, [], NOW);
    expect(found).toHaveLength(MOST_PROBLEMS);
    expect(found.map(({ subject }) => subject)).not.toContain('dc_0');
    expect(asked).toEqual([500, 200]);
  });

  it('looks at the attempts of no more webhooks than it shows', async () => {
    const asked: number[] = [];
    const looked = problems({
      deliveries: {
        of: async (ids) => {
          asked.push(ids.length);
          return [];
        },
      },
    });
    const waiting = Array.from({ length: 1_000 }, (_, i) => `wh_${i}`);
    await looked.of('o_1', NONE, waiting, NOW);
    expect(asked).toEqual([MOST_PROBLEMS]);
  });
});
