import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId } from '#libs/kernel/ids.js';
import {
  type EventFilter,
  type SubscribedTrigger,
  type SubscriptionDeleted,
  type SubscriptionEvent,
} from '../published.js';

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
      /** Undefined leaves the filter of an existing subscription unchanged; null removes it. */
      readonly filter?: EventFilter | null | undefined;
      /** Given when a workflow owns the subscription, whose id then stays when its triple changes. */
      readonly trigger?: SubscribedTrigger | undefined;
      readonly now: number;
    } & Triple)
  | ({ readonly type: 'start_replay'; readonly events: number; readonly now: number } & Replay)
  | { readonly type: 'cancel_replay'; readonly now: number }
  | { readonly type: 'delete'; readonly reason: SubscriptionDeleted['data']['reason']; readonly now: number };

/** The kept events of a replay, and their rate. */
export interface Replay {
  readonly replayId: string;
  readonly emitterId: string;
  readonly startId: string;
  readonly endId: string;
  /** Events a second. */
  readonly rate: number;
}

export type SubscriptionState =
  | { readonly status: 'none' }
  | ({
      readonly status: 'exists';
      readonly id: string;
      readonly userId: string;
      readonly filter: EventFilter | null;
      readonly trigger?: SubscribedTrigger;
      /** The last replay; null when it was cancelled, or when there was none. */
      readonly replay: { readonly id: string; readonly endsAt: number } | null;
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
        const { subscriptionId, userId, emitterId, listenerId, eventName, filter, trigger, now } = command;
        const isOther = state.status === 'exists' && (state.emitterId !== emitterId || state.eventName !== eventName);
        if (state.status === 'exists' && !isOther) {
          if (filter === undefined || isSame(filter, state.filter)) return [];
          return [{ type: 'SubscriptionFilterChanged', data: { filter, changedAt: now } }];
        }
        const filtered = filter ? { filter } : {};
        const owned = trigger ? { trigger } : {};
        const data = {
          subscriptionId,
          userId,
          emitterId,
          listenerId,
          eventName,
          ...filtered,
          ...owned,
          createdAt: now,
        };
        const created: SubscriptionEvent = { type: 'SubscriptionCreated', data };
        if (!isOther) return [created];
        return [{ type: 'SubscriptionDeleted', data: { reason: 'trigger_changed', deletedAt: now } }, created];
      }
      case 'start_replay': {
        if (state.status === 'none') throw notFound();
        const { replayId, emitterId, startId, endId, rate, events, now } = command;
        if (state.replay !== null && now < state.replay.endsAt) throw replayRuns(state.replay.endsAt, now);
        const { listenerId, eventName, filter, trigger } = state;
        const passed = { ...(filter ? { filter } : {}), ...(trigger ? { trigger } : {}) };
        const which = { replayId, emitterId, listenerId, eventName, ...passed, startId, endId };
        const endsAt = now + Math.ceil((events / rate) * 1_000);
        return [{ type: 'SubscriptionReplayStarted', data: { ...which, rate, startedAt: now, endsAt } }];
      }
      case 'cancel_replay': {
        if (state.status === 'none') throw notFound();
        if (state.replay === null) throw new DomainError('subscription.no_replay', 'there is no replay to cancel');
        const data = { replayId: state.replay.id, cancelledAt: command.now };
        return [{ type: 'SubscriptionReplayCancelled', data }];
      }
      case 'delete': {
        const { reason, now } = command;
        if (state.status === 'exists') return [{ type: 'SubscriptionDeleted', data: { reason, deletedAt: now } }];
        // A caller gets an error, while the clean-up after a deleted resource has nothing left to do.
        if (reason === 'requested') throw notFound();
        return [];
      }
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'SubscriptionCreated': {
        const { subscriptionId: id, filter = null, ...others } = event.data;
        return { status: 'exists', id, ...others, filter, replay: null };
      }
      case 'SubscriptionReplayStarted': {
        const { replayId: id, endsAt } = event.data;
        return state.status === 'exists' ? { ...state, replay: { id, endsAt } } : state;
      }
      case 'SubscriptionReplayCancelled':
        return state.status === 'exists' ? { ...state, replay: null } : state;
      case 'SubscriptionFilterChanged':
        return state.status === 'exists' ? { ...state, filter: event.data.filter } : state;
      case 'SubscriptionDeleted':
        return { status: 'none' };
    }
  },
};

const notFound = (): DomainError => new DomainError('subscription.not_found', 'there is no such subscription');

const replayRuns = (endsAt: number, now: number): DomainError => {
  const retryAfter = Math.ceil((endsAt - now) / 1_000);
  const text = `a replay of this subscription runs until ${new Date(endsAt).toISOString()}: wait, or cancel it with DELETE`;
  return new DomainError('subscription.replay_runs', text, { ends_at: endsAt, retry_after: retryAfter });
};

/** The order of the tests has no meaning, but another order is rare and costs only an event. */
const isSame = (one: EventFilter | null, other: EventFilter | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
