import { describe, expect, it } from '@jest/globals';
import { runKillRounds } from './kill9-rounds.js';
import { lastRelease, lastReleaseMissing } from './last-release.js';

const missing = await lastReleaseMissing();

/** The format of data.db changes in between. What was in flight at the last kill of the former release is delivered. */
describe('a data directory of the last release, killed with -9 in the middle of load', () => {
  const run = missing === undefined ? it : it.skip;
  run(
    `goes on with its events, deliveries, db, dedupe and history${missing === undefined ? '' : ` (not run: ${missing})`}`,
    async () => {
      const report = await runKillRounds({ rounds: 4, seed: 16, say: () => undefined, from: await lastRelease() });
      expect(report.problems).toEqual([]);
      expect(report.kills).toBeGreaterThanOrEqual(4);
      expect(report.acknowledged).toBeGreaterThan(50);
    },
    600_000,
  );
});
