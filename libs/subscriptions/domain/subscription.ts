import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId } from '#libs/kernel/ids.js';
import { type EventFilter, type SubscriptionDeleted, type SubscriptionEvent } from '../published.js';

/** Emitter, listener and channel. The triple is unique within a workspace. */
export interface Triple {
  readonly emitterId: string;
  readonly listenerId: string;
  /** Name of the channel; empty for the default one. */
  readonly eventName: string;
}

export type SubscriptionCommand =
  | ({
      readonly type: 'create';
      readonly subscriptionId: string;
      readonly userId: string;
      /** Undefined leaves the filter of an existing subscription as it is; null takes it away. */
      readonly filter?: EventFilter | null | undefined;
      readonly now: number;
    } & Triple)
  | { readonly type: 'delete'; readonly reason: SubscriptionDeleted['data']['reason']; readonly now: number };

export type SubscriptionState =
  | { readonly status: 'none' }
  | ({
      readonly status: 'exists';
      readonly id: string;
      readonly userId: string;
      readonly filter: EventFilter | null;
      readonly createdAt: number;
    } & Triple);

/** Derives the id from the triple, so two concurrent creations meet in one stream. */
export const subscriptionIdOf = (workspaceId: string, { emitterId, listenerId, eventName }: Triple): string =>
  derivedId('sub', workspaceId, emitterId, listenerId, eventName);

export const subscription: Decider<SubscriptionCommand, SubscriptionEvent, SubscriptionState> = {
  category: 'subscription',
  initialState: () => ({ status: 'none' }),

  decide(command, state) {
    switch (command.type) {
      case 'create': {
        const { subscriptionId, userId, emitterId, listenerId, eventName, filter, now } = command;
        if (state.status === 'exists') {
          if (filter === undefined || isSame(filter, state.filter)) return [];
          return [{ type: 'SubscriptionFilterChanged', data: { filter, changedAt: now } }];
        }
        const filtered = filter ? { filter } : {};
        const data = { subscriptionId, userId, emitterId, listenerId, eventName, ...filtered, createdAt: now };
        return [{ type: 'SubscriptionCreated', data }];
      }
      case 'delete': {
        const { reason, now } = command;
        if (state.status === 'exists') return [{ type: 'SubscriptionDeleted', data: { reason, deletedAt: now } }];
        // A caller gets an error, while the clean-up after a deleted resource has nothing left to do.
        if (reason === 'requested') throw new DomainError('subscription.not_found', 'there is no such subscription');
        return [];
      }
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'SubscriptionCreated': {
        const { subscriptionId: id, userId, emitterId, listenerId, eventName, filter = null, createdAt } = event.data;
        return { status: 'exists', id, userId, emitterId, listenerId, eventName, filter, createdAt };
      }
      case 'SubscriptionFilterChanged':
        return state.status === 'exists' ? { ...state, filter: event.data.filter } : state;
      case 'SubscriptionDeleted':
        return { status: 'none' };
    }
  },
};

/** The order of the tests does not matter, but another order is rare and costs only an event. */
const isSame = (one: EventFilter | null, other: EventFilter | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
