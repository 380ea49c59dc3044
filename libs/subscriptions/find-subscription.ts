import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type SubscriptionDoc, subscriptionsProjection } from './read-models/subscriptions.projection.js';

/** Finds a subscription of these workspaces. Throws subscription.not_found, also for one of another workspace. */
export const findSubscription = async (
  readModels: ReadModelStore,
  workspaceIds: readonly string[],
  id: string,
): Promise<SubscriptionDoc> => {
  const { schema } = subscriptionsProjection;
  const doc = isIdOf('sub', id) ? await readModels.get<SubscriptionDoc>(schema, id) : undefined;
  if (doc && workspaceIds.includes(doc.workspaceId)) return doc;
  throw new DomainError(
    'subscription.not_found',
    `there is no subscription ${shownId(id)} in your workspaces${otherKindHint(id, 'sub')}`,
    { id: shownId(id) },
  );
};
