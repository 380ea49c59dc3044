import { type DomainEvent } from './events.js';

/**
 * Rules of one aggregate. They are pure, so time, ids and randomness arrive in the command.
 * `decide` returns the resulting events, `[]` for a no-op, or throws a DomainError when a rule forbids the command.
 */
export interface Decider<C, E extends DomainEvent, S> {
  /** Category of the streams. `source` makes `source-dc_…`. */
  readonly category: string;
  initialState(): S;
  decide(command: C, state: S): E[];
  evolve(state: S, event: E): S;
  /**
   * Returns an equal state without the parts that no decision needs, and the number of its parts. Commands then keep
   * the state in memory (KeptStates). Only for a decider with long streams whose repeated commands are no-ops.
   */
  compact?(this: void, state: S): { readonly state: S; readonly size: number };
}

export const fold = <C, E extends DomainEvent, S>(
  decider: Decider<C, E, S>,
  events: Iterable<E>,
  from = decider.initialState(),
): S => {
  let state = from;
  for (const event of events) state = decider.evolve(state, event);
  return state;
};
