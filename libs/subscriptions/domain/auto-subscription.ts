import { ERRORS_CHANNEL, LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId } from '#libs/kernel/ids.js';
import { type AutoSubscribed, type AutoSubscriptionDeleted, type AutoSubscriptionEvent } from '../published.js';

export type AutoSubscriptionCommand =
  | {
      readonly type: 'create';
      readonly autoSubscriptionId: string;
      readonly userId: string;
      readonly listenerId: string;
      readonly eventName: AutoSubscribed;
      readonly now: number;
    }
  | { readonly type: 'delete'; readonly reason: AutoSubscriptionDeleted['data']['reason']; readonly now: number };

export type AutoSubscriptionState =
  | { readonly status: 'none' }
  | {
      readonly status: 'exists';
      readonly id: string;
      readonly userId: string;
      readonly listenerId: string;
      readonly eventName: AutoSubscribed;
      readonly createdAt: number;
    };

/** Derives the id from what it is for, so two concurrent creations meet in one stream. */
export const autoSubscriptionIdOf = (workspaceId: string, listenerId: string, eventName: AutoSubscribed): string =>
  derivedId('asub', workspaceId, listenerId, eventName);

/** Checks the channel (docs/reference/rest-api.md#auto-subscriptions). Throws subscription.invalid_channel. */
export const autoSubscribed = (eventName: string): AutoSubscribed => {
  if (eventName === ERRORS_CHANNEL || eventName === LOGS_CHANNEL) return eventName;
  const allowed = [ERRORS_CHANNEL, LOGS_CHANNEL];
  const actual = eventName.length > 100 ? `${eventName.slice(0, 100)}…` : eventName;
  const got =
    eventName === ''
      ? 'an empty one: a shell replaces $errors within double quotes, so put the URL in single quotes or write %24errors'
      : actual;
  throw new DomainError('subscription.invalid_channel', `event_name must be $errors or $logs; got ${got}`, {
    field: 'event_name',
    actual,
    allowed,
  });
};

export const autoSubscription: Decider<AutoSubscriptionCommand, AutoSubscriptionEvent, AutoSubscriptionState> = {
  category: 'auto_subscription',
  initialState: () => ({ status: 'none' }),

  decide(command, state) {
    switch (command.type) {
      case 'create': {
        if (state.status === 'exists') return [];
        const { autoSubscriptionId, userId, listenerId, eventName, now } = command;
        const data = { autoSubscriptionId, userId, listenerId, eventName, createdAt: now };
        return [{ type: 'AutoSubscriptionCreated', data }];
      }
      case 'delete': {
        const { reason, now } = command;
        if (state.status === 'exists') return [{ type: 'AutoSubscriptionDeleted', data: { reason, deletedAt: now } }];
        // A caller gets an error, while the clean-up after a deleted listener has nothing left to do.
        if (reason === 'requested')
          throw new DomainError('auto_subscription.not_found', 'there is no such auto-subscription');
        return [];
      }
    }
  },

  evolve(_, event) {
    switch (event.type) {
      case 'AutoSubscriptionCreated': {
        const { autoSubscriptionId: id, ...fields } = event.data;
        return { status: 'exists', id, ...fields };
      }
      case 'AutoSubscriptionDeleted':
        return { status: 'none' };
    }
  },
};
