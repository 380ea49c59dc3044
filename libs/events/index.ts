export { EventsModule } from './events.module.js';
export { EventsOfDeletedSources, type ForgetsKeys } from './clean-up/events-of-deleted-sources.js';
export {
  type AppliedRecords,
  DEFAULT_EVENT_SETTINGS,
  type Emitters,
  type EventSettings,
  type KeptEvents,
} from './ports.js';
export { eventSummariesProjection } from './read-models/event-summaries.projection.js';
export { storedEvents } from './stored-events.js';
