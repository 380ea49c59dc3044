import { type RecordedEvent } from './events.js';

/**
 * A table in memory, fed with every event of the log in order from the start, for look-ups on the hot path
 * (endpoints, subscriptions, API keys). Derived, never stored; `apply` must not throw on events it does not know.
 */
export interface LiveView {
  apply(event: RecordedEvent): void;
}
