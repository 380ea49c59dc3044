import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type AutoSubscriptionEvent } from '../published.js';
import { autoSubscribed, autoSubscription, autoSubscriptionIdOf } from './auto-subscription.js';

const fields = { autoSubscriptionId: 'asub_1', userId: 'u_1', listenerId: 'wh_1', eventName: '$errors' } as const;
const create = { type: 'create', ...fields, now: 1_000 } as const;
const created: AutoSubscriptionEvent = { type: 'AutoSubscriptionCreated', data: { ...fields, createdAt: 1_000 } };
const deleted: AutoSubscriptionEvent = {
  type: 'AutoSubscriptionDeleted',
  data: { reason: 'requested', deletedAt: 2_000 },
};

describe('an auto-subscription', () => {
  it('is created, and created again is a no-op', () => {
    given(autoSubscription).when(create).then(created);
    given(autoSubscription, [created])
      .when({ ...create, userId: 'u_2' })
      .thenNothingHappened();
  });

  it('is deleted, and can be created again', () => {
    given(autoSubscription, [created]).when({ type: 'delete', reason: 'requested', now: 2_000 }).then(deleted);
    given(autoSubscription, [created, deleted]).when(create).then(created);
  });

  it('that does not exist cannot be deleted on request, and needs no clean-up', () => {
    given(autoSubscription, [created, deleted])
      .when({ type: 'delete', reason: 'requested', now: 3_000 })
      .thenThrows('auto_subscription.not_found');
    given(autoSubscription).when({ type: 'delete', reason: 'listener_deleted', now: 3_000 }).thenNothingHappened();
  });

  it('has an id of its own for each workspace, listener and channel', () => {
    const ids = [
      autoSubscriptionIdOf('o_1', 'wh_1', '$errors'),
      autoSubscriptionIdOf('o_2', 'wh_1', '$errors'),
      autoSubscriptionIdOf('o_1', 'wh_2', '$errors'),
      autoSubscriptionIdOf('o_1', 'wh_1', '$logs'),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toMatch(/^asub_[0-9a-z]{18}$/);
  });

  it('is for $errors or $logs only, and says what a shell does to an empty one', () => {
    expect([autoSubscribed('$errors'), autoSubscribed('$logs')]).toEqual(['$errors', '$logs']);
    for (const [name, text] of [
      ['', /a shell replaces \$errors within double quotes/],
      ['errors', /must be \$errors or \$logs; got errors/],
      ['x'.repeat(5_000), /x…$/],
    ] as const) {
      expect(() => autoSubscribed(name)).toThrow(DomainError);
      expect(() => autoSubscribed(name)).toThrow(text);
    }
  });
});
