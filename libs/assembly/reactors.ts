import { EventsOfDeletedSources } from '#libs/events/index.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { SubscriptionsOfDeletedResources } from '#libs/subscriptions/index.js';
import { WebhookCleanUp } from '#libs/webhooks/index.js';
import { type ControlPlane } from './control-plane.js';
import { type DataPlane } from './data-plane.js';

/** What must follow from a deletion, durably. */
export const cleanUpReactors = (plane: ControlPlane, dataPlane: DataPlane): readonly Reactor[] => {
  const { engines, handleCommand, projectors, clock } = plane;
  const { events, readModels, vault } = engines;
  const { topics, summaries, attempts, webhookTopics } = dataPlane;
  return [
    new SubscriptionsOfDeletedResources({ events, handleCommand, readModels, readYourWrites: projectors, clock }),
    new WebhookCleanUp({ events, vault, attempts, topics: webhookTopics }),
    new EventsOfDeletedSources({ summaries, topics }),
  ];
};
