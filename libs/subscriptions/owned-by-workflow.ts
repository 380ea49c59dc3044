import { DomainError } from '#libs/kernel/domain-error.js';
import { readAll } from '#libs/kernel/read-all.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type Triple } from './domain/subscription.js';
import { type SubscriptionDoc, subscriptionsProjection } from './read-models/subscriptions.projection.js';

/** Throws subscription.owned_by_workflow for the triple of a trigger, which only its definition changes. */
export const mustNotBeOwned = async (
  readModels: ReadModelStore,
  workspaceIds: readonly string[],
  { emitterId, listenerId, eventName }: Triple,
): Promise<void> => {
  if (!listenerId.startsWith('p_')) return;
  const heard = await readAll<SubscriptionDoc>(readModels, subscriptionsProjection.schema, { listenerId });
  const owned = heard.find(
    (each) =>
      each.trigger !== undefined &&
      each.emitterId === emitterId &&
      each.eventName === eventName &&
      workspaceIds.includes(each.workspaceId),
  );
  if (!owned) return;
  throw new DomainError(
    'subscription.owned_by_workflow',
    `subscription ${owned.id} is the trigger ${owned.trigger ?? ''} of workflow ${listenerId}: change it with PUT /v1/workflows/${listenerId}`,
    { id: owned.id, workflow_id: listenerId, trigger: owned.trigger ?? '' },
  );
};
