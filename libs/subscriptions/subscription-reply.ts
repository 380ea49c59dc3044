import { named, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type Triple } from './domain/subscription.js';

/** Subscription as in docs/reference/rest-api.md#subscription-fields. */
export const Subscription = named('Subscription', {
  id: text('`sub_…`'),
  emitter_id: text('What emits: `dc_…`, `dc_*`, `o_…`, `u_…` or `p_*`'),
  listener_id: text('What receives: `dc_…` or `wh_…`'),
  event_name: text('Channel, empty for the default one'),
});

export type SubscriptionReply = TypeOf<typeof Subscription>;

export const subscriptionReply = ({
  id,
  emitterId,
  listenerId,
  eventName,
}: { readonly id: string } & Triple): SubscriptionReply => ({
  id,
  emitter_id: emitterId,
  listener_id: listenerId,
  event_name: eventName,
});
