import { describe, expect, it } from '@jest/globals';
import { momentOf } from './moment.js';

const NOON = Date.UTC(2026, 10, 23, 12);

describe('a moment', () => {
  it.each([
    ['2026-11-23', Date.UTC(2026, 10, 23), 86_400_000],
    ['2026-11-23T12:00', NOON, 60_000],
    ['2026-11-23T12:00:00', NOON, 1_000],
    ['2026-11-23T13:00:00+01:00', NOON, 1_000],
    ['2026-11-23T13:00:00 01:00', NOON, 1_000],
    ['2026-11-23T12:00:00.000Z', NOON, 1],
    [String(NOON / 1_000), NOON, 1_000],
    [String(NOON), NOON, 1],
  ])('%s is as long as it is precise', (given, first, length) => {
    expect(momentOf(given)).toMatchObject({ first, last: first + length - 1 });
  });

  it.each([
    '',
    '0',
    '999999999',
    '0999999999',
    '9999999999999999',
    'yesterday',
    '2026-13-01',
    '2026-11-23 12:00',
    '1e12',
    '-1',
  ])('is never %j', (given) => expect(momentOf(given)).toBeUndefined());
});
