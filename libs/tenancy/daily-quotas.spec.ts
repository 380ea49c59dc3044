import { describe, expect, it } from '@jest/globals';
import { QuotaKeeper } from './daily-quotas.js';
import { type DailyUsage } from './published.js';

const NOTHING: DailyUsage = { invocations: 0, computeMs: 0, credits: 0 };

/** @param credits that a workspace may use in a day. */
const world = (credits: number) => {
  const t = {
    now: Date.UTC(2026, 0, 1, 23),
    used: NOTHING,
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
    credits,
    clock: { now: () => t.now },
    onFailure: (error) => t.failures.push(error),
  });
  return { t, keeper };
};

describe('daily quotas', () => {
  it('name what is used up, and when it starts again', async () => {
    const { t, keeper } = world(3);
    t.used = { invocations: 1, computeMs: 1, credits: 4 };
    await expect(keeper.mustHaveLeft('o_1')).rejects.toMatchObject({
      code: 'workspace.quota_exceeded',
      message: expect.stringMatching(/o_1 has used 4 of its 3 credits.*2026-01-02T00:00:00.000Z.*SLUICE_DAILY_CREDITS/),
      details: { quota: 'credits', limit: 3, actual: 4, retry_after: 3_600 },
    });
  });

  it('ask nothing while none is set, and let in what is below', async () => {
    const { t, keeper } = world(0);
    expect(keeper.exceededBy('o_1')).toBeUndefined();
    expect(t.reads).toBe(0);
    const below = world(10);
    below.t.used = { invocations: 99, computeMs: 0, credits: 9 };
    expect(await below.keeper.exceededBy('o_1')).toBeUndefined();
  });

  it('read usage once for many arrivals, and again after a second, without a wait', async () => {
    const { t, keeper } = world(1);
    await Promise.all([keeper.exceededBy('o_1'), keeper.exceededBy('o_1')]);
    expect(keeper.exceededBy('o_1')).toBeUndefined();
    expect(t.reads).toBe(1);
    t.used = { invocations: 0, computeMs: 0, credits: 1 };
    t.now += 1_001;
    expect(keeper.exceededBy('o_1')).toBeUndefined();
    await new Promise((resolve) => setImmediate(resolve));
    expect(keeper.exceededBy('o_1')).toMatchObject({ quota: 'credits' });
    expect(t.reads).toBe(2);
  });

  it('start again at 00:00 UTC', async () => {
    const { t, keeper } = world(1);
    t.used = { invocations: 0, computeMs: 0, credits: 1 };
    expect(await keeper.exceededBy('o_1')).toBeDefined();
    t.used = NOTHING;
    t.now += 3_600_000;
    expect(await keeper.exceededBy('o_1')).toBeUndefined();
  });

  it('let work in, and report it, when usage cannot be read', async () => {
    const { t, keeper } = world(1);
    t.failure = new Error('store is down');
    expect(await keeper.exceededBy('o_1')).toBeUndefined();
    expect(t.failures).toEqual([t.failure]);
  });
});
