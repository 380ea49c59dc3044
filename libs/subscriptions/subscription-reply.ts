import { type Triple } from './domain/subscription.js';

/** Subscription as in docs/reference/rest-api.md#subscription-fields. */
export const subscriptionReply = ({ id, emitterId, listenerId, eventName }: { readonly id: string } & Triple) => ({
  id,
  emitter_id: emitterId,
  listener_id: listenerId,
  event_name: eventName,
});
