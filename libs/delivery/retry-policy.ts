/** Result of one attempt. `error` is the code of a network error (`ECONNREFUSED`, `TIMEOUT`, …). */
export type AttemptOutcome =
  | { readonly kind: 'response'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'error'; readonly error: string };

export type RetryDecision =
  | { readonly kind: 'success' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'final'; readonly reason: string }
  /** Status 410: the endpoint wants no further deliveries. */
  | { readonly kind: 'disable'; readonly reason: string };

export interface RetrySettings {
  /** Pauses after attempts 1, 2, and so on. There is one more attempt than pauses. */
  readonly delaysMs: readonly number[];
  /** Greatest fraction by which a pause is lengthened or shortened. */
  readonly jitter: number;
  /** Longest Retry-After that is honoured. Retry-After lengthens a pause and never shortens it. */
  readonly maxRetryAfterMs: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * Ten attempts over about three days, as Standard Webhooks recommends (docs/reference/delivery.md#retry-schedule).
 * `maxAgeMs` (webhook-settings.ts) and the upper limit of a webhook's `max_attempts` follow from these pauses.
 */
export const DEFAULT_RETRIES: RetrySettings = {
  delaysMs: [5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
  jitter: 0.2,
  maxRetryAfterMs: 6 * HOUR,
};

/** Limits retries to `attempts` attempts in total; 1 never retries. */
export const withMaxAttempts = (settings: RetrySettings, attempts: number): RetrySettings => ({
  ...settings,
  delaysMs: settings.delaysMs.slice(0, Math.max(0, attempts - 1)),
});

const RETRIED_STATUS: readonly number[] = [408, 425, 429];

/** Errors that a retry cannot fix, because the request must not be sent at all. */
const FINAL_ERRORS: readonly string[] = ['EGRESS_REFUSED', 'INVALID_URL'];

/**
 * Decides what follows an attempt. Retried: network errors, timeouts, 408, 425, 429 and 5xx. Final: 3xx (redirects are
 * not followed), other 4xx, and addresses that the egress guard refuses.
 * @param attempt 1 for the first. @param random in [0, 1). @param now epoch ms, for a Retry-After date.
 */
export const decideRetry = (
  outcome: AttemptOutcome,
  attempt: number,
  settings: RetrySettings,
  random: number,
  now: number,
): RetryDecision => {
  const failure = outcome.kind === 'error' ? outcome.error : `status ${outcome.status}`;
  let retryAfter: string | undefined;
  if (outcome.kind === 'response') {
    const { status } = outcome;
    if (status >= 200 && status < 300) return { kind: 'success' };
    if (status === 410) return { kind: 'disable', reason: 'status 410: the endpoint asks for no more deliveries' };
    if (status >= 300 && status < 400) return { kind: 'final', reason: `${failure}: redirects are not followed` };
    if (status < 500 && !RETRIED_STATUS.includes(status)) return { kind: 'final', reason: `${failure} is not retried` };
    retryAfter = outcome.retryAfter;
  } else if (FINAL_ERRORS.includes(outcome.error)) {
    return { kind: 'final', reason: failure };
  }
  const base = settings.delaysMs[attempt - 1];
  if (base === undefined) return { kind: 'final', reason: `${failure}, attempt ${attempt} was the last` };
  const planned = base * (1 + settings.jitter * (2 * random - 1));
  const asked = Math.min(retryAfterMs(retryAfter, now), settings.maxRetryAfterMs);
  // Retry-After gets upward jitter only, so that no retry comes too early and not all come at once.
  return { kind: 'retry', delayMs: Math.round(Math.max(planned, asked * (1 + (settings.jitter / 2) * random))) };
};

/** Parses seconds or an HTTP date to milliseconds from now; 0 when absent, past or unreadable. */
export const retryAfterMs = (header: string | undefined, now: number): number => {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = text === '' ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
};
