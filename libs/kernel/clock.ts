/** The only source of time for contexts and engines. Epoch milliseconds. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Converts to epoch seconds, the unit of resource fields (docs/reference/rest-api.md#times). */
export const epochSeconds = (epochMs: number): number => Math.floor(epochMs / 1000);
