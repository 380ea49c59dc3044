import { describe, expect, it } from '@jest/globals';
import { runKillRounds } from './kill9-rounds.js';

describe('a server killed with -9 in the middle of load', () => {
  it('loses no acknowledged event, repeats only under the same ids, and keeps db, dedupe and resources whole', async () => {
    const report = await runKillRounds({ rounds: 4, seed: 20, say: () => undefined });
    expect(report.problems).toEqual([]);
    expect(report.kills).toBeGreaterThanOrEqual(4);
    expect(report.acknowledged).toBeGreaterThan(50);
    expect(report.sourcesDeployed).toBeGreaterThan(0);
  }, 240_000);
});
