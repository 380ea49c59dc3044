import { describe, it } from '@jest/globals';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { history } from '#libs/kernel/testing/recorded.js';
import { subscriptionsProjection } from './subscriptions.projection.js';

const stream = 'subscription-sub_1';
const created = (createdAt: number) => ({
  type: 'SubscriptionCreated',
  data: {
    subscriptionId: 'sub_1',
    userId: 'u_1',
    emitterId: 'dc_a',
    listenerId: 'wh_1',
    eventName: '$errors',
    createdAt,
  },
});
const deleted = { type: 'SubscriptionDeleted', data: { reason: 'requested', deletedAt: 2 } };
const doc = {
  id: 'sub_1',
  workspaceId: 'o_1',
  userId: 'u_1',
  emitterId: 'dc_a',
  listenerId: 'wh_1',
  eventName: '$errors',
  filter: null,
  createdAt: '000001700000000',
  revision: 0,
};

describe('subscriptions.subscriptions.v3', () => {
  it('lists a created subscription', () => {
    projecting(subscriptionsProjection)
      .given(history([stream, created(1_700_000_000)]))
      .numberOfTimes(2)
      .then('sub_1', doc);
  });

  it('shows its filter as text, until it is taken away', () => {
    const filter = { 'a.b': { gt: 1 } };
    const change = (to: object | null) => ({ type: 'SubscriptionFilterChanged', data: { filter: to, changedAt: 2 } });
    projecting(subscriptionsProjection)
      .given(history([stream, created(1_700_000_000)], [stream, change(filter)]))
      .numberOfTimes(2)
      .then('sub_1', { ...doc, filter: JSON.stringify(filter), revision: 1 });
    projecting(subscriptionsProjection)
      .given(history([stream, created(1_700_000_000)], [stream, change(filter)], [stream, change(null)]))
      .then('sub_1', { ...doc, revision: 2 });
  });

  it('drops a deleted subscription, and lists it again once it is created again', () => {
    const past = history([stream, created(1)], [stream, deleted]);
    projecting(subscriptionsProjection).given(past).numberOfTimes(2).then('sub_1', undefined);
    projecting(subscriptionsProjection)
      .given(history([stream, created(1)], [stream, deleted], [stream, created(1_700_000_000)]))
      .then('sub_1', { ...doc, revision: 2 });
  });

  it('has the revision of its stream, also after a replay', () => {
    const cancelled = { type: 'SubscriptionReplayCancelled', data: { replayId: 'rpl_1', cancelledAt: 2 } };
    projecting(subscriptionsProjection)
      .given(history([stream, created(1_700_000_000)], [stream, cancelled]))
      .then('sub_1', { ...doc, revision: 1 });
  });

  it('ignores other events', () => {
    projecting(subscriptionsProjection)
      .given(history(['source-dc_a', { type: 'SourceDeleted', data: {} }]))
      .then('dc_a', undefined);
  });
});
