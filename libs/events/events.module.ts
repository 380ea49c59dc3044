import { Module, type DynamicModule } from '@nestjs/common';
import { EventStreams } from '#libs/event-streams/index.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CLOCK, READ_MODELS } from '#libs/kernel/tokens.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { DELAYED_EVENTS, STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { DeleteEventsController } from './delete-events/delete-events.controller.js';
import { DeleteEventsHandler } from './delete-events/delete-events.handler.js';
import { GetEventController } from './get-event/get-event.controller.js';
import { GetEventHandler } from './get-event/get-event.query.js';
import { EventLists } from './list-event-summaries/event-lists.js';
import { ListEventSummariesController } from './list-event-summaries/list-event-summaries.controller.js';
import { ListEventSummariesHandler } from './list-event-summaries/list-event-summaries.query.js';
import { ListPlatformEventsController } from './list-event-summaries/list-platform-events.controller.js';
import { ListWorkflowEventsController } from './list-event-summaries/list-workflow-events.controller.js';
import { RunSource } from './source-runs/run-source.js';
import { SourceRunsController } from './source-runs/source-runs.controller.js';
import { SourceRuns } from './source-runs/source-runs.js';
import { WholeEvents } from './list-event-summaries/whole-events.js';
import { SearchEventsController } from './search-events/search-events.controller.js';
import { SearchEventsHandler } from './search-events/search-events.query.js';
import { StreamEventsController } from './stream-events/stream-events.controller.js';
import { KeptSummaries } from './stream-workspace/kept-summaries.js';
import { StreamWorkspaceController } from './stream-workspace/stream-workspace.controller.js';
import { SummarySource } from './stream-workspace/summary-source.js';
import {
  APPLIED_EVENTS,
  type AppliedRecords,
  EMITTERS,
  EVENT_SETTINGS,
  type EventSettings,
  type KnownEmitters,
  NO_RUNS_UNDER_WAY,
  type OtherStreams,
  RUNS_UNDER_WAY,
  type RunsUnderWay,
  STREAM_SOURCES,
} from './ports.js';

export interface EventsPorts {
  readonly readModels: ReadModelStore;
  readonly clock: Clock;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly delayed: DelayedEvents;
  readonly emitters: KnownEmitters;
  readonly appliedEvents: AppliedRecords;
  readonly settings: EventSettings;
  readonly eventStreams: EventStreams;
  readonly otherStreams: OtherStreams;
  /** Absent in a process that runs no sources. */
  readonly runsUnderWay?: RunsUnderWay | undefined;
}

@Module({
  controllers: [
    ListEventSummariesController,
    ListWorkflowEventsController,
    ListPlatformEventsController,
    SearchEventsController,
    GetEventController,
    DeleteEventsController,
    StreamEventsController,
    StreamWorkspaceController,
    SourceRunsController,
  ],
  providers: [
    EventLists,
    WholeEvents,
    ListEventSummariesHandler,
    SearchEventsHandler,
    GetEventHandler,
    DeleteEventsHandler,
    SourceRuns,
  ],
})
export class EventsModule {
  static forRoot(ports: EventsPorts): DynamicModule {
    return {
      module: EventsModule,
      providers: [
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: CLOCK, useValue: ports.clock },
        { provide: STREAM_LOG, useValue: ports.log },
        { provide: DELAYED_EVENTS, useValue: ports.delayed },
        { provide: TOPIC_POLICY, useValue: ports.topics },
        { provide: EMITTERS, useValue: ports.emitters },
        { provide: APPLIED_EVENTS, useValue: ports.appliedEvents },
        { provide: EVENT_SETTINGS, useValue: ports.settings },
        { provide: RUNS_UNDER_WAY, useValue: ports.runsUnderWay ?? NO_RUNS_UNDER_WAY },
        { provide: EventStreams, useValue: ports.eventStreams },
        { provide: STREAM_SOURCES, useValue: ports.otherStreams },
        {
          provide: RunSource,
          useValue: new RunSource(ports.log, ports.topics, ports.readModels, ports.settings),
        },
        {
          provide: SummarySource,
          useValue: new SummarySource(ports.log, ports.topics, new KeptSummaries(ports.readModels, ports.settings)),
        },
      ],
    };
  }
}
