import { type Triple } from './domain/subscription.js';

/** rest-api.md, "Subscription". */
export const subscriptionReply = ({ id, emitterId, listenerId, eventName }: { readonly id: string } & Triple) => ({
  id,
  emitter_id: emitterId,
  listener_id: listenerId,
  event_name: eventName,
});
