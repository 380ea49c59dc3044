import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { DeleteEventsController } from './delete-events/delete-events.controller.js';
import { DeleteEventsHandler } from './delete-events/delete-events.handler.js';
import { ListEventSummariesController } from './list-event-summaries/list-event-summaries.controller.js';
import { ListEventSummariesHandler } from './list-event-summaries/list-event-summaries.query.js';

/**
 * Needs HttpModule, and from a global module READ_MODELS, CLOCK, STREAM_LOG, TOPIC_POLICY, EMITTERS, APPLIED_EVENTS and
 * EVENT_SETTINGS.
 */
@Module({
  imports: [CqrsModule],
  controllers: [ListEventSummariesController, DeleteEventsController],
  providers: [ListEventSummariesHandler, DeleteEventsHandler],
})
export class EventsModule {}
