import { fold, type Decider } from '#libs/kernel/decider.js';
import { type DomainEvent } from '#libs/kernel/events.js';
import { type IdPrefix } from '#libs/kernel/ids.js';

/** A kind of resource whose history can be read. Each context names its own; the composition root collects them. */
export interface AuditableResource {
  readonly prefix: IdPrefix;
  /** Of its streams. */
  readonly category: string;
  /** What people are shown of the resource after these events: plain JSON. */
  viewAfter(events: readonly DomainEvent[]): unknown;
}

export const AUDITABLE_RESOURCES = Symbol('AuditableResources');

/** @param view what to show of a state; default: all of it. Secrets and references to them are masked in any case. */
export const auditable = <C, E extends DomainEvent, S>(
  prefix: IdPrefix,
  decider: Decider<C, E, S>,
  view: (state: S) => unknown = (state) => state,
): AuditableResource => ({
  prefix,
  category: decider.category,
  // The stream holds what this decider decided, upcast: its own events.
  viewAfter: (events) => view(fold(decider, events as readonly E[])),
});
