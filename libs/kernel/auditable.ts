import { fold, type Decider } from './decider.js';
import { type DomainEvent } from './events.js';
import { type IdPrefix } from './ids.js';

/** A kind of resource with a readable history. Each context describes its own (Context). */
export interface AuditableResource {
  readonly prefix: IdPrefix;
  /** Category of its streams. */
  readonly category: string;
  /** The resource after these events, as plain JSON for readers. */
  viewAfter(events: readonly DomainEvent[]): unknown;
  /** Follows a history event by event. Each call returns the resource after one more event. */
  follow(): (event: DomainEvent) => unknown;
}

/** @param view picks what readers see of a state; all of it by default. Secrets and references are always masked. */
export const auditable = <C, E extends DomainEvent, S>(
  prefix: IdPrefix,
  decider: Decider<C, E, S>,
  view: (state: S) => unknown = (state) => state,
): AuditableResource => ({
  prefix,
  category: decider.category,
  // The stream holds only events of this decider, upcast.
  viewAfter: (events) => view(fold(decider, events as readonly E[])),
  follow: () => {
    let state = decider.initialState();
    return (event) => {
      state = decider.evolve(state, event as E);
      return view(state);
    };
  },
});
