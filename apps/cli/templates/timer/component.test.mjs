import { test } from 'node:test';
import { given } from 'sluice/test';

test('counts the ticks of an hour', async () => {
  const outcome = await given('./component.mjs', { now: '2026-01-01T00:00:00Z' }).when({ after: '1h' });
  outcome.expect({ emits: [{}, {}, {}, { summary: 'Tick 4' }], db: { ticks: 4 } });
});
