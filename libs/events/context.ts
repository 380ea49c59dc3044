import { type Context } from '#libs/kernel/context.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { DeletedSourceEventsReactor, type ForgetsKeys } from './clean-up/deleted-source-events.reactor.js';
import { EventsModule, type EventsPorts } from './events.module.js';
import { eventSummariesProjection } from './read-models/event-summaries.projection.js';

export const eventsContext = {
  streamReadModels: {
    event_summaries: {
      projection: ({ settings }: Pick<EventsPorts, 'settings'>) => eventSummariesProjection(settings),
      cleanUp: ({ topics }: { readonly topics: TopicPolicy }, summaries: ForgetsKeys) =>
        new DeletedSourceEventsReactor({ summaries, topics }),
    },
  },
  module: (ports: EventsPorts) => EventsModule.forRoot(ports),
} as const satisfies Context;
