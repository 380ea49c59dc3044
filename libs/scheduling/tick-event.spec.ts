import { describe, expect, it } from '@jest/globals';
import { tickEvent } from './tick-event.js';

const AT = Date.parse('2024-07-04T05:06:07.000Z');
const parse = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('the event of a tick', () => {
  it('of an interval', () => {
    expect(
      parse(tickEvent({ kind: 'timer', prop: 't', cron: null, intervalSeconds: 900, timezone: null }, AT)),
    ).toEqual({
      timestamp: 1_720_069_567,
      interval_seconds: 900,
      timezone_configured: {
        iso8601: {
          timestamp: '2024-07-04T05:06:07Z',
          date: '2024-07-04',
          time: '05:06:07Z',
          timezone: 'UTC',
        },
        epoch: 1_720_069_567,
      },
      timezone_utc: {
        iso8601: {
          timestamp: '2024-07-04T05:06:07Z',
          date: '2024-07-04',
          time: '05:06:07Z',
          timezone: 'UTC',
        },
        epoch: 1_720_069_567,
      },
    });
  });

  it.each([
    ['America/New_York', '2024-07-04T01:06:07-04:00'],
    ['Asia/Kathmandu', '2024-07-04T10:51:07+05:45'],
    ['Pacific/Kiritimati', '2024-07-04T19:06:07+14:00'],
    ['Africa/Abidjan', '2024-07-04T05:06:07+00:00'],
  ])('of a cron in %s', (timezone, timestamp) => {
    const event = parse(
      tickEvent({ kind: 'timer', prop: 't', cron: '6 * * * *', intervalSeconds: null, timezone }, AT),
    );
    expect(Object.keys(event)).toEqual(['timestamp', 'cron', 'timezone_configured', 'timezone_utc']);
    expect(event).toMatchObject({ cron: '6 * * * *', timezone_configured: { iso8601: { timestamp, timezone } } });
    expect(Date.parse(timestamp)).toBe(AT);
  });

  it('says midnight as 00', () => {
    const midnight = Date.parse('2024-01-01T05:00:00Z');
    const event = tickEvent(
      { kind: 'timer', prop: 't', cron: '0 0 * * *', intervalSeconds: null, timezone: 'America/New_York' },
      midnight,
    );
    expect(parse(event)).toMatchObject({
      timezone_configured: { iso8601: { timestamp: '2024-01-01T00:00:00-05:00', date: '2024-01-01' } },
    });
  });
});
