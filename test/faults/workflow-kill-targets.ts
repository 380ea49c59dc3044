import { setTimeout as pause } from 'node:timers/promises';
import { Deployment, type EngineAddresses, ROLES } from '#test/harness/deployment.js';
import { Server } from '#test/harness/server.js';
import { type KillTarget } from './workflow-kills.js';

const LONGEST_START_MS = 700;

/** A standalone server. Now and then its next start is killed too, in the middle of recovery. */
export const serverToKill = (env: Readonly<Record<string, string>> = {}): KillTarget => {
  const server = new Server({ readyTimeoutMs: 60_000, env });
  return {
    server,
    kill: async (random) => {
      await server.kill9();
      const twice = random() < 0.3;
      if (twice) {
        server.launch();
        await pause(random() * LONGEST_START_MS);
        await server.kill9();
      }
      await server.start();
      return twice ? 2 : 1;
    },
  };
};

/** Roles, of which each kill ends the runner and about half of the others. */
export const rolesToKill = (engines: EngineAddresses, env: Readonly<Record<string, string>> = {}): KillTarget => {
  const deployment = new Deployment({ engines, env });
  return {
    server: deployment,
    // The broker forgets a killed runner after 6 s, and only then another one gets its lanes.
    loadMs: [2_000, 14_000],
    kill: async (random) => {
      const victims = ROLES.filter((role) => role === 'runner' || random() < 0.5).flatMap(
        (role) => deployment.processes[role],
      );
      await Promise.all(victims.map((server) => server.kill9()));
      await Promise.all(victims.map((server) => server.start()));
      return victims.length;
    },
  };
};
