/** What wants to come in. */
export interface Arrival {
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Size of its body as declared; 0 when it is not. */
  readonly bytes: number;
}

/** An answer that tells the caller to come again. */
export interface Refusal {
  readonly status: 429 | 503;
  readonly code: string;
  /** Names the limit, the actual value, and what to do. */
  readonly text: string;
  readonly retryAfterS: number;
}

/** A rule at the door. Rules are put together by `allOf`. */
export interface Admission {
  /** True at once when it may come in; else resolves undefined when it may after all, or with why it may not. */
  enter(arrival: Arrival): true | Promise<Refusal | undefined>;
  /** It is stored, or given up. Called once for each arrival that was let in. */
  left(arrival: Arrival): void;
}

/** A rule that says at once why something may not come in, and remembers nothing of what did. */
export const refusing = (why: (arrival: Arrival) => Refusal | undefined): Admission => ({
  enter(arrival) {
    const refusal = why(arrival);
    return refusal ? Promise.resolve(refusal) : true;
  },
  left: () => undefined,
});

/** Lets in what every rule lets in, asked in order: a rule that holds arrivals back is best the last. */
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
