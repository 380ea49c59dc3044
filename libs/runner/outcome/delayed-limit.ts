import { mayWait, noRoomToWait, type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { userError, type RunOutcome } from '#libs/sandbox/index.js';

export interface Admitted {
  readonly outcome: RunOutcome;
  /** Number and bytes of the waiting events after the commit of the outcome. */
  readonly usage: WaitingEvents;
}

/**
 * Removes from an outcome the delayed events that exceed the limits, and adds an error. The others stay, in order
 * (docs/reference/limits.md#delayed-events).
 */
export const withinDelayedLimits = (outcome: RunOutcome, usage: WaitingEvents): Admitted => {
  let refused = 0;
  let { count, bytes } = usage;
  const emits = outcome.emits.filter(({ deliverAt, payload }) => {
    if (deliverAt === undefined || deliverAt <= outcome.endedAt) return true;
    const size = Buffer.byteLength(payload);
    if (!mayWait({ count, bytes }, size)) {
      refused++;
      return false;
    }
    count++;
    bytes += size;
    return true;
  });
  const after = { count, bytes };
  if (refused === 0) return { outcome, usage: after };
  const message = `$emit: ${refused} event(s) with delivery_ts were refused: ${noRoomToWait(after)}`;
  if (outcome.error) {
    const logs = [...outcome.logs, { k: 'console.error', ts: outcome.endedAt, msg: message }];
    return { outcome: { ...outcome, emits, logs }, usage: after };
  }
  const status = outcome.status === 'ok' ? 'threw' : outcome.status;
  return { outcome: { ...outcome, emits, status, error: userError('DelayedLimitExceeded', message) }, usage: after };
};
