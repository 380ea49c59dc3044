import { setTimeout as pause } from 'node:timers/promises';
import { type EngineAddresses, type RoleName } from '#test/harness/deployment.js';
import { finalProblems } from './roles-rounds.js';
import { onRolesScene } from './roles-scene.js';

export interface RollingRestartOptions {
  readonly engines: EngineAddresses;
  /** Time under load between two restarts. */
  readonly loadMs: number;
}

export interface RollingRestartReport {
  readonly restarts: number;
  readonly acknowledged: number;
  readonly sourcesDeployed: number;
  /** Empty when every rule held. */
  readonly problems: readonly string[];
}

/** The order in docs/how-to/scale-out.md. */
const ORDER: readonly RoleName[] = [
  'projector',
  'router',
  'runner',
  'webhook-worker',
  'scheduler',
  'query-api',
  'ingress',
  'command-api',
];

/** Two processes where the running one takes over the lanes of the one that restarts. */
const COPIES: Readonly<Record<RoleName, number>> = {
  projector: 1,
  router: 2,
  runner: 2,
  'webhook-worker': 2,
  scheduler: 1,
  'query-api': 1,
  ingress: 1,
  'command-api': 1,
};

const DEPLOY_EVERY_MS = 3_000;

/** Stops and starts each process in turn, under load and deployments. Checks the results at the end. */
export const runRollingRestart = ({ engines, loadMs }: RollingRestartOptions): Promise<RollingRestartReport> =>
  onRolesScene({ engines, copies: COPIES, deployEveryMs: DEPLOY_EVERY_MS }, async (scene) => {
    const { load, deployer, deployment, gate, sources } = scene;
    load.start([
      { source: sources.relay, clients: 2, times: 1, pauseMs: 250 },
      { source: sources.counter, clients: 2, times: 1, pauseMs: 400 },
      { source: sources.unique, clients: 1, times: 2, pauseMs: 250 },
      { source: sources.greatest, clients: 1, times: 1, pauseMs: 300 },
    ]);
    deployer.start();
    gate.open();
    let restarts = 0;
    for (const role of ORDER) {
      for (const server of deployment.processes[role]) {
        await pause(loadMs);
        await server.restart();
        restarts++;
      }
    }
    await pause(loadMs);
    await Promise.all([load.stop(), deployer.stop()]);
    return {
      restarts,
      acknowledged: load.ledgers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
      sourcesDeployed: deployer.count,
      problems: await finalProblems(scene),
    };
  });
