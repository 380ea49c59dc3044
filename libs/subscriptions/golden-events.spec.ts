import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { subscriptionsContext } from './context.js';
import { subscription } from './domain/subscription.js';
import { autoSubscription } from './domain/auto-subscription.js';
import { type AutoSubscriptionEvent, type SubscriptionEvent } from './published.js';

const golden = new GoldenEvents(subscriptionsContext);

const after = (...names: GoldenName<SubscriptionEvent>[]) => golden.after(subscription, ...names);
const afterAuto = (...names: GoldenName<AutoSubscriptionEvent>[]) => golden.after(autoSubscription, ...names);

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<(SubscriptionEvent | AutoSubscriptionEvent)['type'], () => void> = {
  SubscriptionCreated: () => {
    expect(after('SubscriptionCreated.filter')).toMatchObject({ filter: { 'body.total': { gt: 100 } } });
    expect(after('SubscriptionCreated.trigger')).toMatchObject({ trigger: { type: 'event', name: 'orders' } });
    expect(after('SubscriptionCreated')).toEqual({
      filter: null,
      replay: null,
      status: 'exists',
      id: 'sub_0k2f9x8a1b3c5d7e9f',
      userId: 'u_0k2f9x8a1b3c5d7e9f',
      emitterId: 'dc_0k2f9x8a1b3c5d7e9f',
      listenerId: 'wh_0k2f9x8a1b3c5d7e9f',
      eventName: '$errors',
      createdAt: 1_763_712_000_000,
    });
  },
  SubscriptionFilterChanged: () =>
    expect(after('SubscriptionCreated.filter', 'SubscriptionFilterChanged')).toMatchObject({
      filter: { kind: 'order' },
    }),
  SubscriptionReplayStarted: () => {
    const replay = { id: 'rpl_0k2f9x8a1b3c5d7e9f', endsAt: 1_763_712_001_400 };
    expect(after('SubscriptionCreated', 'SubscriptionReplayStarted')).toMatchObject({ replay });
    expect(after('SubscriptionCreated', 'SubscriptionReplayStarted.filter')).toMatchObject({ replay });
    expect(after('SubscriptionCreated.trigger', 'SubscriptionReplayStarted.trigger')).toMatchObject({ replay });
  },
  SubscriptionReplayCancelled: () =>
    expect(after('SubscriptionCreated', 'SubscriptionReplayStarted', 'SubscriptionReplayCancelled')).toMatchObject({
      replay: null,
    }),
  SubscriptionDeleted: () => expect(after('SubscriptionCreated', 'SubscriptionDeleted')).toEqual({ status: 'none' }),
  AutoSubscriptionCreated: () =>
    expect(afterAuto('AutoSubscriptionCreated')).toEqual({
      status: 'exists',
      id: 'asub_0k2f9x8a1b3c5d7e9f',
      userId: 'u_0k2f9x8a1b3c5d7e9f',
      listenerId: 'wh_0k2f9x8a1b3c5d7e9f',
      eventName: '$errors',
      createdAt: 1_763_712_000_000,
    }),
  AutoSubscriptionDeleted: () =>
    expect(afterAuto('AutoSubscriptionCreated', 'AutoSubscriptionDeleted')).toEqual({ status: 'none' }),
};

describe('every version of an event of subscriptions', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());
});
