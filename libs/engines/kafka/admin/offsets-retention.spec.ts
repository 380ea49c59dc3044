import { expect, it } from '@jest/globals';
import { checkOffsetsRetention } from './offsets-retention.js';

const DAY_MS = 86_400_000;

it.each<[string, (string | undefined)[], number, number]>([
  ['as long as records are kept', ['10080', '10080'], 7, 0],
  ['shorter on one broker', ['10080', '1440'], 7, 1],
  ['not told', [undefined], 7, 0],
])('a cluster that keeps offsets %s', async (_, minutes, days, warnings) => {
  const told: unknown[] = [];
  const settings = minutes.map((value, broker) => ({
    broker,
    values: new Map(value === undefined ? [] : [['offsets.retention.minutes', value]]),
  }));
  await checkOffsetsRetention({ warn: (...all) => told.push(all) }, { read: async () => settings }, days * DAY_MS);
  expect(told).toHaveLength(warnings);
  if (warnings > 0)
    expect(JSON.stringify(told)).toContain('set offsets.retention.minutes of the brokers to at least 10080');
});

it('a cluster whose settings may not be read is not warned of a second time', async () => {
  const told: unknown[] = [];
  await checkOffsetsRetention({ warn: (...all) => told.push(all) }, { read: async () => undefined }, DAY_MS);
  expect(told).toEqual([]);
});
