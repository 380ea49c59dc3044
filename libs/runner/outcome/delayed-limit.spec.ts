import { describe, expect, it } from '@jest/globals';
import { type EmitCall } from '#libs/component-model/run-output.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { DELAYED_LIMITS } from '#libs/component-model/delayed-limits.js';
import { withinDelayedLimits } from './delayed-limit.js';

const outcomeOf = (...emits: EmitCall[]): RunOutcome => ({
  status: 'ok',
  emits,
  delays: true,
  logs: [],
  dbChanges: {},
  startedAt: 1,
  endedAt: 10,
});
const later = (payload: string): EmitCall => ({ payload, channel: '', deliverAt: 11 });
const over: EmitCall = { payload: '"now"', channel: '', deliverAt: 10 };

describe('the limit of events that wait', () => {
  it('admits up to the limit, and counts what is added', () => {
    const outcome = outcomeOf(later('1'), over, later('22'));
    const usage = { count: DELAYED_LIMITS.events - 2, bytes: 5 };
    expect(withinDelayedLimits(outcome, usage)).toEqual({
      outcome,
      usage: { count: DELAYED_LIMITS.events, bytes: 8 },
    });
  });

  it.each([
    ['events', { count: DELAYED_LIMITS.events - 1, bytes: 0 }],
    ['bytes', { count: 0, bytes: DELAYED_LIMITS.bytes - 1 }],
  ])('refuses those beyond it, with an error, and keeps the others: %s', (_title, usage) => {
    const { outcome } = withinDelayedLimits(outcomeOf(later('1'), over, later('2')), usage);
    expect(outcome.emits).toEqual([later('1'), over]);
    expect(outcome).toMatchObject({ status: 'threw', error: { code: 'DelayedLimitExceeded' } });
    expect(outcome.error?.message).toMatch(/^\$emit: 1 event\(s\) with delivery_ts were refused/);
  });

  it("keeps the run's own error, and tells of the refusal in a log line", () => {
    const error = { name: 'Error', message: 'mine', stack: '', code: 'Error' };
    const { outcome } = withinDelayedLimits(
      { ...outcomeOf(later('1')), status: 'threw', error },
      { count: DELAYED_LIMITS.events, bytes: 0 },
    );
    expect(outcome.error).toBe(error);
    expect(outcome.logs[0]?.msg).toMatch(/were refused/);
  });
});
