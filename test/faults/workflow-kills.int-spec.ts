import { describe, expect, it } from '@jest/globals';
import { runWorkflowKills } from './workflow-kills.js';
import { serverToKill } from './workflow-kill-targets.js';

// docs/reference/workflows.md#run-durable
describe('a server killed with -9 while runs of workflows wait, retry, reply, loop, send, are replayed in bulk and called as tools', () => {
  it('ends every run once, keeps each stored outcome, repeats effects only under their first keys, and begins one run for each run to replay and each call', async () => {
    const report = await runWorkflowKills(serverToKill(), { rounds: 4, inFlight: 60, seed: 20, say: () => undefined });
    expect(report.problems).toEqual([]);
    expect(report.kills).toBeGreaterThanOrEqual(4);
    expect(report.acknowledged).toBeGreaterThan(60);
    expect(report.resumed).toBeGreaterThan(5);
    expect(report.replies).toBeGreaterThan(0);
    expect(report.items).toBeGreaterThan(20);
    expect(report.replayed).toBeGreaterThan(0);
    expect(report.toolCalls).toBeGreaterThan(5);
  }, 300_000);
});
