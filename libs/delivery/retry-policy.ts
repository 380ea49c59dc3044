/** How one attempt ended. `error` is a network error's code (`ECONNREFUSED`, `TIMEOUT`, …). */
export type AttemptOutcome =
  | { readonly kind: 'response'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'error'; readonly error: string };

export type RetryDecision =
  | { readonly kind: 'success' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'final'; readonly reason: string }
  /** 410: the endpoint asks for nothing more, ever. */
  | { readonly kind: 'disable'; readonly reason: string };

export interface RetrySettings {
  /** Pause after attempt 1, 2, …; one more attempt than pauses is made. */
  readonly delaysMs: readonly number[];
  /** A pause is longer or shorter by up to this part of it. */
  readonly jitter: number;
  /** Longest Retry-After that is honoured. It lengthens a pause, never shortens it. */
  readonly maxRetryAfterMs: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Ten attempts over about three days (Standard Webhooks' list). */
export const DEFAULT_RETRIES: RetrySettings = {
  delaysMs: [5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
  jitter: 0.2,
  maxRetryAfterMs: 6 * HOUR,
};

/** At most `attempts` attempts; 1 never retries. */
export const withMaxAttempts = (settings: RetrySettings, attempts: number): RetrySettings => ({
  ...settings,
  delaysMs: settings.delaysMs.slice(0, Math.max(0, attempts - 1)),
});

const RETRIED_STATUS: readonly number[] = [408, 425, 429];

/** Trying again changes nothing: the request never was one that may be sent. */
const FINAL_ERRORS: readonly string[] = ['EGRESS_REFUSED', 'INVALID_URL'];

/**
 * What follows an attempt. Retried: network errors, timeouts, 408, 425, 429, 5xx. Final: 3xx (redirects are not followed),
 * other 4xx, addresses that the egress guard refuses.
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
  // What was asked for is spread upwards only, so that nobody comes too soon and not all come at once.
  return { kind: 'retry', delayMs: Math.round(Math.max(planned, asked * (1 + (settings.jitter / 2) * random))) };
};

/** Seconds or an HTTP date; 0 when absent, past or unreadable. */
export const retryAfterMs = (header: string | undefined, now: number): number => {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = text === '' ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
};
