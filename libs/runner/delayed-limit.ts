import { DELAYED_LIMITS, type DelayedUsage } from '../stream-log/delayed-events.js';
import { userError } from '../sandbox/host/process-end.js';
import { type RunOutcome } from '../sandbox/sandbox.js';

export interface Admitted {
  readonly outcome: RunOutcome;
  /** What waits once the outcome is committed. */
  readonly usage: DelayedUsage;
}

/**
 * Takes the events for which there is no room out of an outcome and adds the error. The others stay, in order
 * (docs/reference/limits.md#delayed-events).
 */
export const withinDelayedLimits = (outcome: RunOutcome, { count, bytes }: DelayedUsage): Admitted => {
  let refused = 0;
  const emits = outcome.emits.filter(({ deliverAt, payload }) => {
    if (deliverAt === undefined || deliverAt <= outcome.endedAt) return true;
    const size = Buffer.byteLength(payload);
    if (count + 1 > DELAYED_LIMITS.events || bytes + size > DELAYED_LIMITS.bytes) {
      refused++;
      return false;
    }
    count++;
    bytes += size;
    return true;
  });
  const usage = { count, bytes };
  if (refused === 0) return { outcome, usage };
  const message =
    `$emit: ${refused} event(s) with delivery_ts were refused: ${count} events with ${bytes} bytes wait in $in, and ` +
    `at most ${DELAYED_LIMITS.events} events with ${DELAYED_LIMITS.bytes} bytes may wait for one source. ` +
    'Cancel some with DELETE /v1/sources/{id}/events?event_name=$in, or emit with delivery_ts later';
  if (outcome.error) {
    const logs = [...outcome.logs, { k: 'console.error', ts: outcome.endedAt, msg: message }];
    return { outcome: { ...outcome, emits, logs }, usage };
  }
  const status = outcome.status === 'ok' ? 'threw' : outcome.status;
  return { outcome: { ...outcome, emits, status, error: userError('DelayedLimitExceeded', message) }, usage };
};
