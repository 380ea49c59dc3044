import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startEngineServers, type EngineServers } from '#test/faults/engine-servers.js';
import { runRollingRestart } from '#test/faults/rolling-restart.js';

describe('every process of every role, stopped and started in turn under load', () => {
  let servers: EngineServers;
  beforeAll(async () => {
    servers = await startEngineServers();
  }, 120_000);
  afterAll(() => servers.stop(), 60_000);

  it('loses nothing, repeats only under the same ids, and reads as after a rebuild', async () => {
    const report = await runRollingRestart({ engines: servers.addresses, loadMs: 1_000 });
    expect(report.problems).toEqual([]);
    expect(report.restarts).toBe(11);
    expect(report.acknowledged).toBeGreaterThan(50);
    expect(report.sourcesDeployed).toBeGreaterThan(0);
  }, 600_000);
});
