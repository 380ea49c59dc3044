import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { DeleteEventsController } from './delete-events/delete-events.controller.js';
import { DeleteEventsHandler } from './delete-events/delete-events.handler.js';
import { ListEventSummariesController } from './list-event-summaries/list-event-summaries.controller.js';
import { ListEventSummariesHandler } from './list-event-summaries/list-event-summaries.query.js';

/**
 * Needs, from a global module: READ_MODELS, CLOCK, STREAM_LOG, TOPIC_POLICY, EMITTERS, APPLIED_EVENTS, EVENT_SETTINGS,
 * and what HttpModule gives.
 */
@Module({
  imports: [CqrsModule],
  controllers: [ListEventSummariesController, DeleteEventsController],
  providers: [ListEventSummariesHandler, DeleteEventsHandler],
})
export class EventsModule {}
