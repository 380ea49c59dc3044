import { describe, expect, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type SubscriptionEvent } from '../published.js';
import { subscription, subscriptionIdOf } from './subscription.js';

const triple = { emitterId: 'dc_a', listenerId: 'wh_1', eventName: '' };
const create = { type: 'create', subscriptionId: 'sub_1', userId: 'u_1', now: 1_000, ...triple } as const;
const created: SubscriptionEvent = {
  type: 'SubscriptionCreated',
  data: { subscriptionId: 'sub_1', userId: 'u_1', createdAt: 1_000, ...triple },
};
const deleted: SubscriptionEvent = {
  type: 'SubscriptionDeleted',
  data: { reason: 'requested', deletedAt: 2_000 },
};

describe('a subscription', () => {
  it('is created', () => given(subscription).when(create).then(created));

  it('created again is a no-op, also for another user', () =>
    given(subscription, [created])
      .when({ ...create, userId: 'u_2', now: 5_000 })
      .thenNothingHappened());

  it('is deleted', () =>
    given(subscription, [created]).when({ type: 'delete', reason: 'requested', now: 2_000 }).then(deleted));

  it('can be created again after that', () =>
    given(subscription, [created, deleted])
      .when({ ...create, now: 3_000 })
      .then({ type: 'SubscriptionCreated', data: { ...created.data, createdAt: 3_000 } }));

  it.each([[[]], [[created, deleted]]])(
    'cannot be deleted on request when it does not exist',
    (past: SubscriptionEvent[]) => {
      given(subscription, past)
        .when({ type: 'delete', reason: 'requested', now: 2_000 })
        .thenThrows('subscription.not_found');
    },
  );

  it.each(['emitter_deleted', 'listener_deleted'] as const)('needs no clean-up when it does not exist: %s', (reason) =>
    given(subscription, [created, deleted]).when({ type: 'delete', reason, now: 2_000 }).thenNothingHappened(),
  );

  it('of a trigger keeps its id with another emitter', () => {
    const trigger = { type: 'event', name: 'orders' } as const;
    const owned: SubscriptionEvent = { type: 'SubscriptionCreated', data: { ...created.data, trigger } };
    const other = { ...create, trigger, emitterId: 'dc_b', now: 2_000 };
    given(subscription, [owned])
      .when(other)
      .then(
        { type: 'SubscriptionDeleted', data: { reason: 'trigger_changed', deletedAt: 2_000 } },
        { type: 'SubscriptionCreated', data: { ...owned.data, emitterId: 'dc_b', createdAt: 2_000 } },
      );
  });

  describe('and its replay', () => {
    const which = { replayId: 'rpl_1', emitterId: 'dc_a', startId: '1-0', endId: '9-0', rate: 10 };
    const start = { type: 'start_replay', ...which, events: 25, now: 10_000 } as const;
    const started: SubscriptionEvent = {
      type: 'SubscriptionReplayStarted',
      data: { ...which, listenerId: 'wh_1', eventName: '', startedAt: 10_000, endsAt: 12_500 },
    };
    const cancelled: SubscriptionEvent = {
      type: 'SubscriptionReplayCancelled',
      data: { replayId: 'rpl_1', cancelledAt: 11_000 },
    };

    it('starts with the listener, the channel and the filter of the subscription, and ends by its rate', () => {
      given(subscription, [created]).when(start).then(started);
      const filter = { kind: 'order' };
      given(subscription, [{ ...created, data: { ...created.data, filter } }])
        .when(start)
        .then({ ...started, data: { ...started.data, filter } });
    });

    it('runs one at a time, and again once it is over or cancelled', () => {
      given(subscription, [created, started])
        .when({ ...start, now: 12_499 })
        .thenThrows('subscription.replay_runs');
      const later = (now: number): SubscriptionEvent => ({
        ...started,
        data: { ...started.data, startedAt: now, endsAt: now + 2_500 },
      });
      given(subscription, [created, started])
        .when({ ...start, now: 12_500 })
        .then(later(12_500));
      given(subscription, [created, started, cancelled])
        .when({ ...start, now: 11_001 })
        .then(later(11_001));
    });

    it('is cancelled once', () => {
      given(subscription, [created, started]).when({ type: 'cancel_replay', now: 11_000 }).then(cancelled);
      for (const past of [[created], [created, started, cancelled]])
        given(subscription, past).when({ type: 'cancel_replay', now: 11_000 }).thenThrows('subscription.no_replay');
    });

    it('needs a subscription that exists', () => {
      for (const command of [start, { type: 'cancel_replay', now: 1 } as const])
        given(subscription, [created, deleted]).when(command).thenThrows('subscription.not_found');
    });
  });

  it('has an id derived from workspace and triple', () => {
    const id = subscriptionIdOf('o_1', triple);
    expect(id).toMatch(/^sub_[0-9a-z]{18}$/);
    expect(subscriptionIdOf('o_1', { ...triple })).toBe(id);
    const others = [
      subscriptionIdOf('o_2', triple),
      subscriptionIdOf('o_1', { ...triple, eventName: '$errors' }),
      subscriptionIdOf('o_1', { ...triple, listenerId: 'wh_2' }),
      subscriptionIdOf('o_1', { ...triple, emitterId: 'dc_b' }),
    ];
    expect(new Set([id, ...others]).size).toBe(5);
  });
});
