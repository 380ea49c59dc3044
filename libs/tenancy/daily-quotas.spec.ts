import { describe, expect, it } from '@jest/globals';
import { type DailyQuotas, NO_QUOTAS, QuotaKeeper } from './daily-quotas.js';
import { type DailyUsage } from './published.js';

const world = (quotas: DailyQuotas) => {
  const t = {
    now: Date.UTC(2026, 0, 1, 23),
    used: { invocations: 0, computeMs: 0, credits: 0 } as DailyUsage,
    reads: 0,
    failure: undefined as Error | undefined,
    failures: [] as unknown[],
  };
  const keeper = new QuotaKeeper({
    usage: {
      ofToday: async () => {
        t.reads++;
        if (t.failure) throw t.failure;
        return t.used;
      },
    },
    quotas,
    clock: { now: () => t.now },
    onFailure: (error) => t.failures.push(error),
  });
  return { t, keeper };
};

describe('daily quotas', () => {
  it.each([
    [
      'invocations',
      { ...NO_QUOTAS, invocations: 10 },
      { invocations: 10, computeMs: 1, credits: 1 },
      '10 of its 10 runs',
    ],
    [
      'compute_time',
      { ...NO_QUOTAS, computeMs: 500 },
      { invocations: 1, computeMs: 501, credits: 1 },
      '501 of its 500 ms',
    ],
    ['credits', { ...NO_QUOTAS, credits: 3 }, { invocations: 1, computeMs: 1, credits: 4 }, '4 of its 3 credits'],
  ])('name the quota of %s that is used up, and when it starts again', async (quota, quotas, used, words) => {
    const { t, keeper } = world(quotas);
    t.used = used;
    await expect(keeper.mustHaveLeft('o_1')).rejects.toMatchObject({
      code: 'workspace.quota_exceeded',
      message: expect.stringMatching(new RegExp(`o_1 has used ${words}.*2026-01-02T00:00:00.000Z.*SLUICE_DAILY_`)),
      details: { quota, retry_after: 3_600 },
    });
  });

  it('ask nothing while none is set, and let in what is below', async () => {
    const { t, keeper } = world(NO_QUOTAS);
    expect(keeper.exceededBy('o_1')).toBeUndefined();
    expect(t.reads).toBe(0);
    const below = world({ ...NO_QUOTAS, invocations: 10 });
    below.t.used = { invocations: 9, computeMs: 0, credits: 0 };
    expect(await below.keeper.exceededBy('o_1')).toBeUndefined();
  });

  it('read usage once for many arrivals, and again after a second, without a wait', async () => {
    const { t, keeper } = world({ ...NO_QUOTAS, invocations: 1 });
    await Promise.all([keeper.exceededBy('o_1'), keeper.exceededBy('o_1')]);
    expect(keeper.exceededBy('o_1')).toBeUndefined();
    expect(t.reads).toBe(1);
    t.used = { invocations: 1, computeMs: 0, credits: 0 };
    t.now += 1_001;
    expect(keeper.exceededBy('o_1')).toBeUndefined();
    await new Promise((resolve) => setImmediate(resolve));
    expect(keeper.exceededBy('o_1')).toMatchObject({ quota: 'invocations' });
    expect(t.reads).toBe(2);
  });

  it('start again at 00:00 UTC', async () => {
    const { t, keeper } = world({ ...NO_QUOTAS, invocations: 1 });
    t.used = { invocations: 1, computeMs: 0, credits: 0 };
    expect(await keeper.exceededBy('o_1')).toBeDefined();
    t.used = NO_QUOTAS;
    t.now += 3_600_000;
    expect(await keeper.exceededBy('o_1')).toBeUndefined();
  });

  it('let work in, and report it, when usage cannot be read', async () => {
    const { t, keeper } = world({ ...NO_QUOTAS, invocations: 1 });
    t.failure = new Error('store is down');
    expect(await keeper.exceededBy('o_1')).toBeUndefined();
    expect(t.failures).toEqual([t.failure]);
  });
});
