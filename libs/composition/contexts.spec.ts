import { describe, expect, it } from '@jest/globals';
import { systemClock } from '#libs/kernel/clock.js';
import { SubscriptionTable } from '#libs/routing/subscription-table.js';
import { makeViews } from './contexts.js';

describe('the tables in memory', () => {
  it('have no subscriptions in a process that does not route', () => {
    expect(makeViews(systemClock).all.filter((view) => view instanceof SubscriptionTable)).toEqual([]);
  });

  it('are fed together with those of the process’s own role', () => {
    const table = new SubscriptionTable();
    expect(makeViews(systemClock, [table]).all).toContain(table);
  });
});
