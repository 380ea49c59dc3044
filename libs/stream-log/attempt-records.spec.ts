import { describe, expect, it } from '@jest/globals';
import { attemptRecord, attemptsOf, MAX_CHARACTERS, MAX_TOGETHER, packAttempts } from './attempt-records.js';
import { attemptAt } from './testing/attempts.js';

const failed = attemptAt(2, {
  attempt: 3,
  outcome: 'retry',
  value: { status: null, error: 'TIMEOUT', nextAttemptAt: 9 },
});
const numbered = (count: number) => Array.from({ length: count }, (_, n) => attemptAt(n));
const countsOf = (attempts: Parameters<typeof packAttempts>[0]) => packAttempts(attempts).map(({ count }) => count);

describe('the records of attempts', () => {
  it('are records of their own for a single attempt', () => {
    const packed = packAttempts([attemptAt(1)]);
    expect(packed).toEqual([{ record: attemptRecord(attemptAt(1)), count: 1 }]);
    expect(packed[0]?.record).toEqual({
      topic: 'attempts',
      key: 'wh_1',
      headers: {
        id: 'dlv_1/1',
        delivery: 'dlv_1',
        webhook: 'wh_1',
        workspace: 'o_1',
        emitter: 'dc_1',
        channel: '',
        emit: 'emit-1',
        event: '1700000000000-1',
        attempt: '1',
        outcome: 'success',
      },
      value: '{"ts":1700000000001,"ms":12,"status":200,"error":null,"nextAttemptAt":null,"responseSnippet":"ok"}',
    });
    expect(attemptsOf(attemptRecord(failed))).toEqual([failed]);
  });

  it('contain several attempts of a webhook, each with all of its fields', () => {
    const value = { responseSnippet: '"\u0000\n', responseHeaders: { 'x-a': 'ü' } };
    const attempts = [attemptAt(1), failed, attemptAt(3, { channel: 'ü', value })];
    const [packed, ...more] = packAttempts(attempts);
    expect(more).toEqual([]);
    expect(packed).toMatchObject({ count: 3, record: { topic: 'attempts', key: 'wh_1', headers: { attempts: '3' } } });
    expect(packed && attemptsOf(packed.record)).toEqual(attempts);
  });

  it('have no id with several attempts', () => {
    const [packed] = packAttempts(numbered(2));
    expect(packed?.record.headers['id']).toBeUndefined();
  });

  it('are bounded in attempts and in characters, and keep the order', () => {
    const attempts = numbered(2 * MAX_TOGETHER + 1);
    expect(countsOf(attempts)).toEqual([MAX_TOGETHER, MAX_TOGETHER, 1]);
    expect(packAttempts(attempts).flatMap(({ record }) => attemptsOf(record))).toEqual(attempts);
    const large = (share: number) => attemptAt(1, { value: { responseSnippet: 'x'.repeat(MAX_CHARACTERS * share) } });
    expect(countsOf([large(0.4), large(0.4), large(0.4), large(2), large(0.1)])).toEqual([2, 1, 1, 1]);
    expect(packAttempts([])).toEqual([]);
  });

  it('are of no attempt without its ids', () => {
    expect(attemptsOf({ topic: 'attempts', key: 'wh_1', headers: { id: 'dlv_1/1' }, value: '{}' })).toEqual([]);
  });
});
