import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EngineServers, startEngineServers } from '#test/faults/engine-servers.js';
import { type FaultFigures, runFaultRounds } from '#test/faults/fault-rounds.js';

describe('a role that is stopped and cut from its engines, in the middle of load', () => {
  let servers: EngineServers;
  beforeAll(async () => {
    servers = await startEngineServers();
  }, 120_000);
  afterAll(() => servers.stop(), 60_000);

  it('answers again, loses no acknowledged event, and repeats only under the same ids', async () => {
    const figures: FaultFigures[] = [];
    const report = await runFaultRounds({
      engines: servers.addresses,
      rounds: 1,
      copies: 1,
      roles: ['ingress'],
      faults: ['stop', 'cut'],
      seed: 3,
      // Above the lifetime of a process in the registry, so that the others consider it gone.
      stopMs: 40_000,
      cutMs: 20_000,
      // Generous: the figures of `npm run faults:roles` are those that count.
      withinMs: 90_000,
      onFault: (each) => figures.push(each),
      onRound: () => undefined,
    });
    expect(report.problems).toEqual([]);
    expect(figures.map(({ process, fault }) => `${fault} ${process}`)).toEqual(['stop ingress 1', 'cut ingress 1']);
    expect(report.acknowledged).toBeGreaterThan(50);
    expect(report.deployed).toBeGreaterThan(0);
  }, 900_000);
});
