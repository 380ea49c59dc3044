/** The only source of time for contexts and engines. Epoch milliseconds. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Resources carry epoch seconds (rest-api.md, "Resources and their fields"). */
export const epochSeconds = (epochMs: number): number => Math.floor(epochMs / 1000);
