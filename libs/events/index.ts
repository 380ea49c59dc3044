export { eventsContext } from './context.js';
export { EventsModule } from './events.module.js';
export { DeletedSourceEventsReactor } from './clean-up/deleted-source-events.reactor.js';
export { type AppliedRecords, DEFAULT_EVENT_SETTINGS, type EventSettings, type RunsUnderWay } from './ports.js';
export { eventSummariesProjection } from './read-models/event-summaries.projection.js';
export { sourceCounts } from './source-counts.js';
export { storedEvents } from './stored-events.js';
