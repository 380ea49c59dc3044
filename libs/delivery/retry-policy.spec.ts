import { describe, expect, it } from '@jest/globals';
import { decideRetry, DEFAULT_RETRIES, retryAfterMs, withMaxAttempts, type AttemptOutcome } from './retry-policy.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const plain = { ...DEFAULT_RETRIES, jitter: 0 };
const status = (code: number, retryAfter?: string): AttemptOutcome =>
  retryAfter === undefined ? { kind: 'response', status: code } : { kind: 'response', status: code, retryAfter };
const kindOf = (outcome: AttemptOutcome, attempt = 1): string => decideRetry(outcome, attempt, plain, 0.5, NOW).kind;

describe('decideRetry', () => {
  it.each([200, 201, 202, 204, 299])('takes %i as success', (code) => expect(kindOf(status(code))).toBe('success'));
  it.each([408, 425, 429, 500, 502, 503, 504, 599])('retries %i', (code) => expect(kindOf(status(code))).toBe('retry'));
  it.each([300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 413, 422])('takes %i as final', (code) =>
    expect(kindOf(status(code))).toBe('final'),
  );
  it('disables on 410', () => expect(kindOf(status(410))).toBe('disable'));
  it.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'TIMEOUT', 'UND_ERR_SOCKET', 'CERT_HAS_EXPIRED'])(
    'retries %s',
    (error) => expect(kindOf({ kind: 'error', error })).toBe('retry'),
  );
  it.each(['EGRESS_REFUSED', 'INVALID_URL'])('takes %s as final', (error) =>
    expect(kindOf({ kind: 'error', error })).toBe('final'),
  );

  it('makes ten attempts over about three days', () => {
    let total = 0;
    for (let attempt = 1; attempt < 10; attempt++) {
      const decision = decideRetry(status(503), attempt, plain, 0.5, NOW);
      total += decision.kind === 'retry' ? decision.delayMs : 0;
    }
    expect(total / 86_400_000).toBeCloseTo(3.15, 1);
    expect(decideRetry(status(503), 10, plain, 0.5, NOW)).toEqual({
      kind: 'final',
      reason: 'status 503, attempt 10 was the last',
    });
  });

  it('never retries with one attempt', () => {
    expect(decideRetry(status(503), 1, withMaxAttempts(plain, 1), 0.5, NOW).kind).toBe('final');
    expect(decideRetry(status(503), 1, withMaxAttempts(plain, 2), 0.5, NOW).kind).toBe('retry');
  });

  it('spreads pauses by the jitter', () => {
    const delay = (random: number): unknown => decideRetry(status(500), 1, DEFAULT_RETRIES, random, NOW);
    expect(delay(0)).toEqual({ kind: 'retry', delayMs: 4000 });
    expect(delay(0.5)).toEqual({ kind: 'retry', delayMs: 5000 });
    expect(delay(0.999)).toEqual({ kind: 'retry', delayMs: 5998 });
  });

  it.each([
    ['60', 60_000],
    ['1', 5000],
    ['Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
    ['31536000', 6 * 3_600_000],
    ['soon', 5000],
    ['-5', 5000],
  ])('honours Retry-After %s within the cap', (header, delayMs) => {
    expect(decideRetry(status(429, header), 1, plain, 0, NOW)).toEqual({ kind: 'retry', delayMs });
  });
});

describe('retryAfterMs', () => {
  it('is 0 for what is past or unreadable', () => {
    expect([undefined, '', 'x', '2020-01-01T00:00:00Z'].map((text) => retryAfterMs(text, NOW))).toEqual([0, 0, 0, 0]);
  });
});
