import { expect } from '@jest/globals';
import { fold, type Decider } from '../decider.js';
import { DomainError } from '../domain-error.js';
import { type ErrorCode } from '../error-codes.js';
import { type DomainEvent } from '../events.js';

export interface Then<E extends DomainEvent, S> {
  /** Expects exactly these events, in this order. */
  then(...events: readonly E[]): void;
  thenNothingHappened(): void;
  /** Expects a DomainError with this code and returns it, for checks of its text. */
  thenThrows(code: ErrorCode, message?: RegExp): DomainError;
  /** Checks the state after the command's events. */
  thenState(check: (state: S) => void): void;
}

export interface When<C, E extends DomainEvent, S> {
  when(command: C): Then<E, S>;
}

/** Checks the rules of one aggregate without a store: `given(decider, pastEvents).when(command).then(...events)`. */
export const given = <C, E extends DomainEvent, S>(
  decider: Decider<C, E, S>,
  events: readonly E[] = [],
): When<C, E, S> => ({
  when: (command) => {
    const state = fold(decider, events);
    const decide = (): E[] => decider.decide(command, state);
    return {
      then: (...expected) => expect(decide()).toEqual(expected),
      thenNothingHappened: () => expect(decide()).toEqual([]),
      thenThrows: (code, message) => {
        const error = thrownBy(decide);
        if (!(error instanceof DomainError)) throw new Error(`expected DomainError ${code}, got ${String(error)}`);
        expect(error.code).toBe(code);
        if (message) expect(error.message).toMatch(message);
        return error;
      },
      thenState: (check) => check(decide().reduce((s, event) => decider.evolve(s, event), state)),
    };
  },
});

const thrownBy = (act: () => unknown): unknown => {
  try {
    return `the result ${JSON.stringify(act())}`;
  } catch (error) {
    return error;
  }
};
