import { describe, expect, it } from '@jest/globals';
import { runWorkflowKills } from './workflow-kills.js';
import { serverToKill } from './workflow-kill-targets.js';

// docs/reference/workflows.md#run-durable
describe('a server killed with -9 while runs of workflows wait, retry, reply and send', () => {
  it('ends every run once, keeps each stored outcome, and repeats effects only under their first keys', async () => {
    const report = await runWorkflowKills(serverToKill(), { rounds: 4, inFlight: 60, seed: 20, say: () => undefined });
    expect(report.problems).toEqual([]);
    expect(report.kills).toBeGreaterThanOrEqual(4);
    expect(report.acknowledged).toBeGreaterThan(60);
    expect(report.resumed).toBeGreaterThan(5);
    expect(report.replies).toBeGreaterThan(0);
  }, 300_000);
});
