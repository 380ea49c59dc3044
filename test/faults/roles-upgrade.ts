import { setTimeout as pause } from 'node:timers/promises';
import { type EngineAddresses, type RoleName } from '#test/harness/deployment.js';
import { ROOT } from '#test/harness/paths.js';
import { type Server } from '#test/harness/server.js';
import { problemsOf, missingOf } from './kill9-checks.js';
import { type LoadPlan } from './kill9-load.js';
import { rebuildProblems } from './rebuild-roles.js';
import { allLedgers, finalProblems, holdsOrLate } from './roles-rounds.js';
import { onRolesScene, type RolesScene } from './roles-scene.js';

export interface UpgradeOptions {
  readonly engines: EngineAddresses;
  /** Folder of the last release, built. */
  readonly lastRelease: string;
  /** How long roles of both releases work under load between two steps. */
  readonly loadMs: number;
  /** Also kills a process of each release while a group has both. */
  readonly kills: boolean;
  readonly onStep: (line: string) => void;
}

export interface UpgradeReport {
  readonly replaced: number;
  readonly kills: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly delivered: number;
  readonly duplicates: number;
  readonly sourcesDeployed: number;
  /** Empty when every rule held. */
  readonly problems: readonly string[];
}

/** As docs/how-to/scale-out.md has it. The way back is the reverse. */
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

/** Two where processes of both releases share lanes. */
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

const DOWN_MS = 1_000;
const DEPLOY_EVERY_MS = 3_000;
const BARRIER_PAUSE_MS = 500;

/**
 * Replaces each process of the last release by one of this checkout under load, role by role, and then the other way.
 * Both releases share lanes, leases and documents meanwhile. Checks the results after each way.
 */
export const runUpgrade = (options: UpgradeOptions): Promise<UpgradeReport> => {
  const { engines, lastRelease, onStep } = options;
  const env = { SLUICE_KAFKA_REPLICATION: '3' };
  const setting = { engines, copies: COPIES, env, deployEveryMs: DEPLOY_EVERY_MS, program: lastRelease };
  return onRolesScene(setting, async (scene) => {
    const { load, deployer, receiver } = scene;
    const upgrade = new Upgrade(options, scene);
    load.start(plansOf(scene));
    deployer.start();
    await upgrade.replaceAll(ORDER, ROOT);
    const after = await upgrade.restProblems('after the upgrade', ROOT);
    onStep(after.length === 0 ? 'after the upgrade: every rule holds' : after.join('\n'));
    await upgrade.replaceAll([...ORDER].reverse(), lastRelease);
    scene.gate.open();
    await Promise.all([load.stop(), deployer.stop()]);
    const { acknowledged, refused } = totals(scene);
    return {
      replaced: upgrade.replaced,
      kills: upgrade.kills,
      acknowledged,
      refused,
      delivered: new Set(receiver.accepted.map(({ webhookId }) => webhookId)).size,
      duplicates: receiver.duplicates,
      sourcesDeployed: deployer.count,
      problems: [...after, ...(await finalProblems(scene, lastRelease)).map((text) => `after the way back: ${text}`)],
    };
  });
};

const plansOf = ({ sources }: RolesScene): readonly LoadPlan[] => [
  { source: sources.relay, clients: 2, times: 1, pauseMs: 250 },
  { source: sources.counter, clients: 2, times: 1, pauseMs: 400 },
  { source: sources.unique, clients: 1, times: 2, pauseMs: 250 },
  { source: sources.greatest, clients: 1, times: 1, pauseMs: 300 },
];

const totals = ({ load }: RolesScene): { acknowledged: number; refused: number } => ({
  acknowledged: load.ledgers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
  refused: load.ledgers.reduce((sum, { refused }) => sum + refused, 0),
});

class Upgrade {
  replaced = 0;
  kills = 0;

  constructor(
    private readonly options: UpgradeOptions,
    private readonly scene: RolesScene,
  ) {}

  async replaceAll(order: readonly RoleName[], program: string): Promise<void> {
    const { deployment, gate, receiver } = this.scene;
    gate.open();
    for (const role of order) {
      const copies = deployment.processes[role];
      for (const [index, server] of copies.entries()) {
        await pause(this.options.loadMs);
        await server.stop();
        server.use(program);
        await server.start();
        this.replaced++;
        const to = program === ROOT ? 'this release' : 'the last release';
        const { acknowledged } = totals(this.scene);
        const ready = `ready after ${Math.round(server.readyMs)} ms`;
        this.options.onStep(
          `${role} ${index + 1}: ${to}, ${ready}; ${acknowledged} acknowledged, ${receiver.accepted.length} delivered`,
        );
        if (index === 0 && copies.length > 1 && this.options.kills) await this.killEach(copies);
      }
    }
    await pause(this.options.loadMs);
  }

  /** With nothing more to come, everything acknowledged arrives, and the read models equal a rebuild. */
  async restProblems(when: string, program: string): Promise<string[]> {
    const { gate, receiver, api, sources, deployer, deployment, webhookId } = this.scene;
    const all = Object.values(sources) as (typeof sources.relay)[];
    await this.tick(false);
    gate.shut();
    await deployer.atRest();
    const isThere = (): boolean => allLedgers(this.scene).every((ledger) => missingOf(receiver, ledger).length === 0);
    const problems = [
      ...(await holdsOrLate('everything acknowledged is delivered', isThere)),
      ...problemsOf(receiver, allLedgers(this.scene)),
      ...(await rebuildProblems(deployment, api, all, [webhookId], program)),
    ];
    await this.tick(true);
    return problems.map((text) => `${when}: ${text}`);
  }

  private async tick(active: boolean): Promise<void> {
    const { api, sources } = this.scene;
    await api.expect(200, 'PUT', `/v1/sources/${sources.ticker.id}`, { body: { active } });
    await pause(BARRIER_PAUSE_MS);
  }

  /** The others take over the lanes of a process of the other release that died in the middle. */
  private async killEach(copies: readonly Server[]): Promise<void> {
    for (const server of copies) {
      await pause(this.options.loadMs);
      await server.kill9();
      this.kills++;
      await pause(DOWN_MS);
      await server.start();
    }
  }
}
