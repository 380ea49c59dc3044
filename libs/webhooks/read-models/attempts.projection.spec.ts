import { describe, expect, it } from '@jest/globals';
import { attemptRecord, packAttempts } from '#libs/stream-log/attempt-records.js';
import { type LogRecord, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { attemptAt } from '#libs/stream-log/testing/attempts.js';
import { attemptSortOf, attemptsProjection } from './attempts.projection.js';

const record = (ts: number): StoredRecord => ({
  topic: 'attempts',
  lane: 'attempts',
  offset: 1,
  timestamp: 1,
  size: 1,
  key: 'wh_1',
  headers: { id: 'dlv_1/2', delivery: 'dlv_1', webhook: 'wh_1', attempt: '2', outcome: 'retry' },
  value: JSON.stringify({ ts, ms: 1, status: 500, error: 'x', nextAttemptAt: null, responseSnippet: '' }),
});

describe('the document of an attempt', () => {
  it.each([1_700_000_000_000, 1_700_000_000_000.25])('tells its place in the list by its id: %d', (ts) => {
    const write = attemptsProjection.interpret(record(ts));
    const doc = write?.kind === 'put' ? write.docs[0] : undefined;
    expect(doc?.sort).toBe('001700000000000-dlv_1/2');
    expect(attemptSortOf(doc?.id ?? '')).toBe(doc?.sort);
  });

  it.each(['', 'dlv_1', 'dlv_1.2', 'wh_1.2.3', 'dlv_1.2.x'])('has another id than %j', (text) => {
    expect(attemptSortOf(text)).toBeUndefined();
  });

  it('is the same whether its record holds it alone or among others', () => {
    const stored = (given: LogRecord): StoredRecord => ({ ...record(1), ...given });
    const attempts = [
      attemptAt(1),
      attemptAt(2, { attempt: 4, outcome: 'retry', value: { status: 503, error: 'status 503' } }),
    ];
    const [packed] = packAttempts(attempts);
    const alone = attempts.map((attempt) => attemptsProjection.interpret(stored(attemptRecord(attempt))));
    const docs = alone.flatMap((write) => (write?.kind === 'put' ? write.docs : []));
    expect(docs.map(({ id }) => id)).toEqual(['dlv_1.1.1700000000001', 'dlv_2.4.1700000000002']);
    expect(packed && attemptsProjection.interpret(stored(packed.record))).toEqual({ kind: 'put', docs });
  });
});
