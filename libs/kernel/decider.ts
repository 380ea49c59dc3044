import { type DomainEvent } from './events.js';

/**
 * Rules of one aggregate. They are pure, so time, ids and randomness arrive in the command.
 * `decide` returns the resulting events, `[]` for a no-op, or throws a DomainError when a rule forbids the command.
 */
export interface Decider<C, E extends DomainEvent, S> {
  /** Category of its streams. `source` gives `source-dc_…`. */
  readonly category: string;
  initialState(): S;
  decide(command: C, state: S): E[];
  evolve(state: S, event: E): S;
}

export const fold = <C, E extends DomainEvent, S>(decider: Decider<C, E, S>, events: Iterable<E>): S => {
  let state = decider.initialState();
  for (const event of events) state = decider.evolve(state, event);
  return state;
};
