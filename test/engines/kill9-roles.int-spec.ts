import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startEngineServers, type EngineServers } from '#test/faults/engine-servers.js';
import { onRolesScene } from '#test/faults/roles-scene.js';
import { HoldingReceiver, problemsOfSends, sendOverKill } from '#test/faults/sends-over-kill.js';
import { rolesToKill } from '#test/faults/workflow-kill-targets.js';
import { runWorkflowKills } from '#test/faults/workflow-kills.js';
import { runRolesRounds } from '#test/faults/roles-rounds.js';
import { killAndTime, seedSubscriptions } from '#test/faults/router-start.js';

describe('roles killed with -9 in turn, and the broker, in the middle of load', () => {
  // Separate servers, because the test kills the broker.
  let servers: EngineServers;
  beforeAll(async () => {
    servers = await startEngineServers();
  }, 120_000);
  afterAll(() => servers.stop(), 60_000);

  it('lose no acknowledged event, repeat only under the same ids, tick once, and read as after a rebuild', async () => {
    const report = await runRolesRounds({
      engines: servers.addresses,
      broker: servers.broker,
      brokerEvery: 1,
      rounds: 1,
      copies: 1,
      seed: 3,
      onRound: () => undefined,
    });
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ kills: 8, brokerKills: 1 });
    expect(report.acknowledged).toBeGreaterThan(50);
    expect(report.ticks).toBeGreaterThan(5);
    expect(report.sourcesDeployed).toBeGreaterThan(0);
  }, 300_000);

  // docs/reference/workflows.md#run-durable
  it('end every run of a workflow once, and keep each stored outcome', async () => {
    const target = rolesToKill(servers.addresses);
    const report = await runWorkflowKills(target, { rounds: 2, inFlight: 40, seed: 4, say: () => undefined });
    expect(report.problems).toEqual([]);
    expect(report.kills).toBeGreaterThan(4);
    expect(report.acknowledged).toBeGreaterThan(40);
  }, 300_000);

  // docs/adr/0072-messages-of-steps.md
  it('send each message of a step whose outcome is stored, under its id, and write the same object', async () => {
    const receiver = await HoldingReceiver.start();
    try {
      const sent = await sendOverKill(rolesToKill(servers.addresses, receiver.env), receiver);
      expect(problemsOfSends(sent)).toEqual([]);
    } finally {
      await receiver.close();
    }
  }, 300_000);

  it('a router routes waiting events, with a thousand subscriptions', async () => {
    await onRolesScene({ engines: servers.addresses, copies: 1 }, async (scene) => {
      await seedSubscriptions(scene, 1_000);
      const { readyMs, deliveredMs } = await killAndTime(scene, 1);
      expect(readyMs).toBeGreaterThan(0);
      expect(deliveredMs).toBeGreaterThan(0);
    });
  }, 180_000);
});
