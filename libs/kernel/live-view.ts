import { type RecordedEvent } from './events.js';

/**
 * In-memory table for look-ups on the hot path (endpoints, subscriptions, API keys). It receives every event of the log
 * in order, from the start, and is never stored. `apply` must not throw on unknown events.
 */
export interface LiveView {
  apply(event: RecordedEvent): void;
}
