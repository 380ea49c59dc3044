import { readAll } from '#libs/kernel/read-all.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type EventFilter } from './published.js';
import { type SubscriptionDoc, subscriptionsProjection } from './read-models/subscriptions.projection.js';

/** The subscriptions of one listener, newest first. */
export const subscriptionsTo = async (readModels: ReadModelStore, listenerId: string) => {
  const docs = await readAll<SubscriptionDoc>(readModels, subscriptionsProjection.schema, { listenerId });
  return docs.map(({ id, emitterId, eventName, filter, trigger }) => ({
    id,
    emitterId,
    eventName,
    filter: filter === null ? null : (JSON.parse(filter) as EventFilter),
    isOwned: trigger !== undefined,
  }));
};
