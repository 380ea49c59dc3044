import { type SentMessage } from '#libs/stream-log/message-records.js';
import { type AttemptResult, outcomeOf } from './http-attempt.js';
import {
  type AttemptOutcome,
  type RetryDecision,
  DEFAULT_RETRIES,
  decideRetry,
  withMaxAttempts,
} from './retry-policy.js';

/** How one attempt at a message ended. `refused`: no retry would send it. */
export interface MessageAttempt {
  readonly outcome: AttemptOutcome | { readonly kind: 'accepted' } | { readonly kind: 'refused' };
  /** Status of the answer, if there was one. */
  readonly status: number | null;
  /** Null when it was sent. */
  readonly error: string | null;
}

const ONCE = withMaxAttempts(DEFAULT_RETRIES, 1);
const MAX_ERROR = 500;

/** A request without `retry` is made once. Emails and objects are always tried again. */
export const decideMessage = (
  { outcome, error }: MessageAttempt,
  { attempt, message }: SentMessage,
  random: number,
  now: number,
): RetryDecision => {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'success' };
    case 'refused':
      return { kind: 'final', reason: error ?? '' };
    case 'response':
    case 'error': {
      const once = message.kind === 'http' && !message.retry;
      return decideRetry(outcome, attempt, once ? ONCE : DEFAULT_RETRIES, random, now);
    }
  }
};

export const refused = (error: string): MessageAttempt => ({
  outcome: { kind: 'refused' },
  status: null,
  error: error.slice(0, MAX_ERROR),
});

/** An answer of 2xx is a success. */
export const httpMessageAttempt = (result: AttemptResult): MessageAttempt => {
  const { status, error, message } = result;
  const outcome = outcomeOf(result);
  if (status !== null) return { outcome, status, error: status >= 200 && status < 300 ? null : `status ${status}` };
  const detail = message === '' || message === error ? '' : `: ${message}`;
  return { outcome, status, error: `${error ?? 'NO_ANSWER'}${detail}`.slice(0, MAX_ERROR) };
};
