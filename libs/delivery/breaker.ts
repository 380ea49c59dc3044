/**
 * Circuit breaker of one webhook, pure. Closed: deliveries are sent. Open: they wait in the due store until `probeAt`.
 * Half-open: one probe is in flight, and its result closes or reopens the breaker. States are immutable.
 */
export type BreakerState =
  | {
      readonly phase: 'closed';
      /** Consecutive failures. */
      readonly failures: number;
      /** Share of failures, as an average that weighs recent results more. */
      readonly rate: number;
      /** Number of results, counted up to `minSamples`. */
      readonly samples: number;
    }
  | { readonly phase: 'open'; readonly openings: number; readonly probeAt: number }
  | { readonly phase: 'half_open'; readonly openings: number };

export interface BreakerSettings {
  readonly failuresInRow: number;
  /** Average share of failures at which the breaker opens, after at least `minSamples` results. */
  readonly failureRate: number;
  readonly minSamples: number;
  /** First pause in milliseconds; doubles with each failed probe. */
  readonly openMs: number;
  readonly maxOpenMs: number;
  /** Greatest fraction by which a pause is lengthened or shortened. */
  readonly jitter: number;
}

export const DEFAULT_BREAKER: BreakerSettings = {
  failuresInRow: 10,
  failureRate: 0.7,
  minSamples: 20,
  openMs: 5000,
  maxOpenMs: 300_000,
  jitter: 0.2,
};

/** Weight of one result in `rate`. */
const WEIGHT = 0.05;
const NEGLIGIBLE = 0.001;

export const CLOSED: BreakerState = { phase: 'closed', failures: 0, rate: 0, samples: 0 };

/** `pass`: send. `probe`: send this one, and call probeStarted. `wait`: a probe is in flight. `hold`: until probeAt. */
export type Gate = 'pass' | 'probe' | 'wait' | 'hold';

export const gateOf = (state: BreakerState, now: number): Gate => {
  switch (state.phase) {
    case 'closed':
      return 'pass';
    case 'open':
      return now >= state.probeAt ? 'probe' : 'hold';
    case 'half_open':
      return 'wait';
  }
};

export const probeStarted = (state: BreakerState): BreakerState =>
  state.phase === 'open' ? { phase: 'half_open', openings: state.openings } : state;

/**
 * Returns the state after a result. Results of attempts that were in flight when the breaker opened change nothing.
 * @param ok the endpoint is healthy: it answered, and not with 408, 425, 429 or 5xx.
 * @param holdMs pause that the endpoint asked for (Retry-After), 0 for none.
 */
export const afterResult = (
  state: BreakerState,
  ok: boolean,
  probe: boolean,
  now: number,
  random: number,
  settings: BreakerSettings,
  holdMs = 0,
): BreakerState => {
  switch (state.phase) {
    case 'open':
      return state;
    case 'half_open':
      if (!probe) return state;
      return ok ? CLOSED : open(state.openings + 1, now, random, settings, holdMs);
    case 'closed': {
      const samples = Math.min(state.samples + 1, settings.minSamples);
      if (ok) {
        // The common case creates no object.
        if (state.failures === 0 && state.rate === 0 && samples === state.samples) return state;
        const rate = state.rate * (1 - WEIGHT);
        return { phase: 'closed', failures: 0, rate: rate < NEGLIGIBLE ? 0 : rate, samples };
      }
      const failures = state.failures + 1;
      const rate = state.rate * (1 - WEIGHT) + WEIGHT;
      const tooMany = samples >= settings.minSamples && rate >= settings.failureRate;
      if (failures >= settings.failuresInRow || tooMany) return open(1, now, random, settings, holdMs);
      return { phase: 'closed', failures, rate, samples };
    }
  }
};

const open = (
  openings: number,
  now: number,
  random: number,
  settings: BreakerSettings,
  holdMs: number,
): BreakerState => {
  const pause = Math.min(settings.maxOpenMs, settings.openMs * 2 ** Math.min(openings - 1, 30));
  const jittered = pause * (1 + settings.jitter * (2 * random - 1));
  return {
    phase: 'open',
    openings,
    probeAt: Math.round(now + Math.max(jittered, Math.min(holdMs, settings.maxOpenMs))),
  };
};
