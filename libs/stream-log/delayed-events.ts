import { sortableEventId } from './event-ids.js';

/** An event that waits until it is due (docs/reference/component-model.md#emit-delivery-ts). */
export interface DelayedEvent {
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Event id under which it is listed while it waits. */
  readonly eventId: string;
  /** Emit id, which stays the same when the event is published. */
  readonly emitId: string;
  /** Channel on which the event is published; empty for the default one. */
  readonly channel: string;
  /** Epoch milliseconds. */
  readonly dueAt: number;
  readonly hops: number;
  /** JSON text of the id given to `$emit`. */
  readonly dedupe?: string;
  readonly summary?: string;
  /** Epoch milliseconds in decimal. */
  readonly ts?: string;
  /** Set for a sample event. */
  readonly test?: '1';
  /** Set for an event that no list keeps after its publication. */
  readonly nostore?: '1';
  /** Id of the run or hook that emitted it. */
  readonly invocation?: string;
  /** JSON text. */
  readonly payload: string;
}

export type DelayedKey = Pick<DelayedEvent, 'sourceId' | 'eventId'>;

/** Sortable event ids, both inclusive. An absent end is open. */
export interface DelayedRange {
  readonly from?: string;
  readonly to?: string;
}

export interface DelayedPage {
  /** Newest first. */
  readonly events: readonly DelayedEvent[];
  /** Number of all events of the source that wait. */
  readonly total: number;
}

export interface DelayedUsage {
  readonly count: number;
  /** UTF-8 bytes of the payloads. */
  readonly bytes: number;
}

/**
 * Durable store of the events that wait. An alarm in the due store knows when each is due (docs/adr/0027). Only the
 * router changes what a source has here, in the order of the source's lane. So the cancellation and the release of an
 * event never both take effect.
 */
export interface DelayedEvents {
  /** Resolves when durable. Replaces an event of the same source and event id. */
  put(events: readonly DelayedEvent[]): Promise<void>;
  find(sourceId: string, eventId: string): Promise<DelayedEvent | undefined>;
  /** Idempotent. */
  remove(events: readonly DelayedKey[]): Promise<void>;
  /** Resolves with the sortable ids of the removed events, as far as they are known. */
  removeRange(sourceId: string, range: DelayedRange): Promise<readonly string[]>;
  /**
   * Lists events that wait. `after` selects older events, `before` the next newer ones. Both are sortable event ids.
   */
  page(sourceId: string, page: { limit: number; after?: string; before?: string }): Promise<DelayedPage>;
  /** Whether any event of the range waits. */
  anyIn(sourceId: string, range: DelayedRange): Promise<boolean>;
  usage(sourceId: string): Promise<DelayedUsage>;
  /** All events, in any order, for moving an installation. */
  all(): AsyncIterable<DelayedEvent>;
}

/** Sortable form of the id of a delayed event. */
export const delayedSort = (eventId: string): string => {
  const sort = sortableEventId(eventId);
  if (sort === undefined) throw new Error(`${eventId} is not an event id`);
  return sort;
};
