import { describe, expect, it } from '@jest/globals';
import { afterResult, CLOSED, DEFAULT_BREAKER, gateOf, probeStarted, type BreakerState } from './breaker.js';

const settings = { ...DEFAULT_BREAKER, failuresInRow: 3, minSamples: 20, openMs: 1000, maxOpenMs: 4000, jitter: 0 };
const after = (state: BreakerState, ok: boolean, probe = false, now = 0, holdMs = 0): BreakerState =>
  afterResult(state, ok, probe, now, 0.5, settings, holdMs);
const opened = (): BreakerState => [0, 0, 0].reduce((state) => after(state, false), CLOSED);

describe('breaker', () => {
  it('passes while closed and opens after failures in a row', () => {
    let state = after(after(CLOSED, false), false);
    expect(gateOf(state, 0)).toBe('pass');
    state = after(after(after(state, true), false), false);
    expect(gateOf(state, 0)).toBe('pass');
    expect(after(state, false)).toEqual({ phase: 'open', openings: 1, probeAt: 1000 });
  });

  it('opens by rate when failures never come three in a row', () => {
    let state: BreakerState = CLOSED;
    let results = 0;
    for (; state.phase === 'closed' && results < 200; results++) state = after(state, results % 3 === 2);
    expect(state.phase).toBe('closed');
    const strict = { ...settings, failureRate: 0.6 };
    for (results = 0; state.phase === 'closed' && results < 200; results++) {
      state = afterResult(state, results % 3 === 2, false, 0, 0.5, strict);
    }
    expect(state.phase).toBe('open');
  });

  it('creates no new state for a success of a healthy endpoint', () => {
    let state: BreakerState = CLOSED;
    for (let i = 0; i < settings.minSamples; i++) state = after(state, true);
    expect(after(state, true)).toBe(state);
  });

  it('allows one probe when the pause is over', () => {
    const state = opened();
    expect(gateOf(state, 999)).toBe('hold');
    expect(gateOf(state, 1000)).toBe('probe');
    const probing = probeStarted(state);
    expect(gateOf(probing, 5000)).toBe('wait');
    expect(after(probing, true, true)).toBe(CLOSED);
  });

  it('doubles the pause with each failed probe up to the cap', () => {
    let state = opened();
    const pauses = [1, 2, 3, 4].map(() => {
      state = after(probeStarted(state), false, true, 0);
      return state.phase === 'open' ? state.probeAt : undefined;
    });
    expect(pauses).toEqual([2000, 4000, 4000, 4000]);
  });

  it('ignores results of attempts in flight when it opened', () => {
    const state = opened();
    expect(after(state, true)).toBe(state);
    const probing = probeStarted(state);
    expect(after(probing, false)).toBe(probing);
    expect(after(probing, true)).toBe(probing);
  });

  it('stays open as long as the endpoint asked, within the cap', () => {
    const state = after(after(CLOSED, false), false);
    expect(after(state, false, false, 0, 3000)).toMatchObject({ probeAt: 3000 });
    expect(after(state, false, false, 0, 3_600_000)).toMatchObject({ probeAt: 4000 });
  });

  it('spreads the pause by the jitter', () => {
    const state = after(after(CLOSED, false), false);
    const probeAt = (random: number): unknown =>
      afterResult(state, false, false, 0, random, { ...settings, jitter: 0.2 });
    expect([0, 0.5, 1].map(probeAt)).toEqual(
      [800, 1000, 1200].map((at) => ({ phase: 'open', openings: 1, probeAt: at })),
    );
  });
});
