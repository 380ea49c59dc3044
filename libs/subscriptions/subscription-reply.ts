import { boolean, named, optional, record, revisionField, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type Triple } from './domain/subscription.js';
import { type EventFilter } from './published.js';

/** Subscription as in docs/reference/rest-api.md#subscription-fields. */
export const Subscription = named('Subscription', {
  id: text('`sub_…`'),
  emitter_id: text('What emits: `dc_…`, `dc_*`, `p_…`, `p_*`, `o_…` or `u_…`'),
  listener_id: text('What receives: `dc_…`, `p_…` or `wh_…`'),
  event_name: text('Channel, empty for the default one'),
  filter: optional(record('Only when the subscription has one')),
  changed: optional(boolean('Only in the reply of a request that gave an existing subscription another filter: true')),
  revision: revisionField(),
});

export type SubscriptionReply = TypeOf<typeof Subscription>;

interface ShownSubscription extends Triple {
  readonly id: string;
  readonly filter?: EventFilter | string | null;
  readonly changed?: boolean;
  readonly revision: number;
}

export const subscriptionReply = ({
  id,
  emitterId,
  listenerId,
  eventName,
  filter,
  changed,
  revision,
}: ShownSubscription): SubscriptionReply => ({
  id,
  emitter_id: emitterId,
  listener_id: listenerId,
  event_name: eventName,
  ...(filter ? { filter: typeof filter === 'string' ? (JSON.parse(filter) as EventFilter) : filter } : {}),
  ...(changed ? { changed } : {}),
  revision,
});
