import { AccountCleanUpReactor } from '#libs/accounts/index.js';
import { DataStoreCleanUpReactor } from '#libs/data-stores/index.js';
import { DeletedSourceEventsReactor, storedEvents } from '#libs/events/index.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { LeftMembersReactor } from '#libs/notifications/index.js';
import { type PlatformEvents } from '#libs/platform-events/platform-events.js';
import { PlatformEventsReactor } from '#libs/platform-events/platform-events.reactor.js';
import { ReplayReactor } from '#libs/routing/replay.reactor.js';
import { type StreamProjector } from '#libs/stream-log/stream-projector.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { AutoSubscribeReactor, DeletedResourceSubscriptionsReactor } from '#libs/subscriptions/index.js';
import { WebhookCleanUpReactor, type WebhookTopics } from '#libs/webhooks/index.js';
import { type ControlPlane } from './control-plane.js';

/** Durable reactions to what happened to resources. The last two clean up a projector's read model and run in its process. */

export const deletedResourceSubscriptionsReactor = (plane: ControlPlane, readYourWrites: ReadYourWrites): Reactor => {
  const { engines, handleCommand, clock } = plane;
  const { events, readModels } = engines;
  return new DeletedResourceSubscriptionsReactor({ events, handleCommand, readModels, readYourWrites, clock });
};

export const autoSubscribeReactor = (plane: ControlPlane, readYourWrites: ReadYourWrites): Reactor => {
  const { engines, handleCommand, clock } = plane;
  return new AutoSubscribeReactor({ handleCommand, readModels: engines.readModels, readYourWrites, clock });
};

export const leftMembersReactor = (plane: ControlPlane, readYourWrites: ReadYourWrites): Reactor => {
  const { engines, handleCommand, clock } = plane;
  const { events, readModels } = engines;
  return new LeftMembersReactor({ events, handleCommand, readModels, readYourWrites, clock });
};

export const replayReactor = ({ engines, clock }: ControlPlane, topics: TopicPolicy): Reactor => {
  const stored = storedEvents(engines.readModels);
  const eventsIn = (...range: Parameters<typeof stored.eventsIn>) => stored.eventsIn(...range);
  return new ReplayReactor({ schedule: engines.schedule, eventsIn, topics, clock });
};

export const subscriptionReactors = (
  plane: ControlPlane,
  topics: TopicPolicy,
  readYourWrites: ReadYourWrites,
): readonly Reactor[] => [
  autoSubscribeReactor(plane, readYourWrites),
  deletedResourceSubscriptionsReactor(plane, readYourWrites),
  replayReactor(plane, topics),
];

export const platformEventsReactor = ({ clock }: ControlPlane, events: PlatformEvents): Reactor =>
  new PlatformEventsReactor({ events, clock });

export const dataStoreCleanUpReactor = ({ engines }: ControlPlane): Reactor =>
  new DataStoreCleanUpReactor(engines.records);

export const accountCleanUpReactor = ({ engines }: ControlPlane): Reactor => {
  const { events, vault } = engines;
  return new AccountCleanUpReactor({ events, vault });
};

export const deletedSourceEventsReactor = (summaries: StreamProjector, topics: TopicPolicy): Reactor =>
  new DeletedSourceEventsReactor({ summaries, topics });

export const webhookCleanUpReactor = (
  plane: ControlPlane,
  attempts: StreamProjector,
  topics: WebhookTopics,
): Reactor => {
  const { events, vault } = plane.engines;
  return new WebhookCleanUpReactor({ events, vault, attempts, topics });
};
