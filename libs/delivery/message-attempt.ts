import { type SentMessage } from '#libs/stream-log/message-records.js';
import { type AttemptResult, outcomeOf } from './http-attempt.js';
import {
  type AttemptOutcome,
  type RetryDecision,
  DEFAULT_RETRIES,
  decideRetry,
  withMaxAttempts,
} from './retry-policy.js';

/** How one attempt at a message ended. */
export interface MessageAttempt {
  readonly outcome: AttemptOutcome;
  /** Status of the answer, if there was one. */
  readonly status: number | null;
  /** Null when it was sent. */
  readonly error: string | null;
}

const ONCE = withMaxAttempts(DEFAULT_RETRIES, 1);
const MAX_ERROR = 500;

/** A request without `retry` is made once. */
export const decideMessage = (
  { outcome }: MessageAttempt,
  { attempt, message }: SentMessage,
  random: number,
  now: number,
): RetryDecision => decideRetry(outcome, attempt, message.retry ? DEFAULT_RETRIES : ONCE, random, now);

/** An answer of 2xx is a success. */
export const httpMessageAttempt = (result: AttemptResult): MessageAttempt => {
  const { status, error, message } = result;
  const outcome = outcomeOf(result);
  if (status !== null) return { outcome, status, error: status >= 200 && status < 300 ? null : `status ${status}` };
  const detail = message === '' || message === error ? '' : `: ${message}`;
  return { outcome, status, error: `${error ?? 'NO_ANSWER'}${detail}`.slice(0, MAX_ERROR) };
};
