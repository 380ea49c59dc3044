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
