import { type Refusal } from '#libs/stream-log/refusal.js';

/** A request for admission. */
export interface Arrival {
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Size of the body. */
  readonly bytes: number;
}

/** A rule for admitting events. `allOf` combines rules. */
export interface Admission {
  /**
   * Returns true when it admits the arrival at once. Otherwise resolves with the refusal, or undefined on admission.
   */
  enter(arrival: Arrival): true | Promise<Refusal | undefined>;
  /** Called once for each admitted arrival, when its event is stored or abandoned. */
  left(arrival: Arrival): void;
}

/** Creates a rule that refuses at once and keeps no state. */
export const refusing = (why: (arrival: Arrival) => Refusal | undefined): Admission => ({
  enter(arrival) {
    const refusal = why(arrival);
    return refusal ? Promise.resolve(refusal) : true;
  },
  left: () => undefined,
});

/** Admits arrivals that every rule admits, asked in order. Put a rule that delays arrivals last. */
export const allOf = (...rules: readonly Admission[]): Admission => {
  const leave = (arrival: Arrival, entered: readonly Admission[]): void => {
    for (const rule of entered) rule.left(arrival);
  };
  const enterFrom = (arrival: Arrival, first: number): true | Promise<Refusal | undefined> => {
    for (let i = first; i < rules.length; i++) {
      const answer = rules[i]?.enter(arrival);
      if (answer === true || answer === undefined) continue;
      return answer.then((refusal) => {
        if (refusal) {
          leave(arrival, rules.slice(0, i));
          return refusal;
        }
        const rest = enterFrom(arrival, i + 1);
        return rest === true ? undefined : rest;
      });
    }
    return true;
  };
  return { enter: (arrival) => enterFrom(arrival, 0), left: (arrival) => leave(arrival, rules) };
};
