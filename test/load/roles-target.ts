import { setTimeout as pause } from 'node:timers/promises';
import { SETTINGS } from '#libs/config/index.js';
import { ApiClient, endpointOf } from '#test/harness/api-client.js';
import { Deployment, ROLES, type RoleName } from '#test/harness/deployment.js';
import { inParallel } from './many-sources.js';
import { startEngineProcesses, type EngineOptions, type EngineProcesses } from './engine-processes.js';
import { cpuSince, usageOf, type Part, type PartUsage } from './part-usage.js';
import { storeTotals, type Stores } from './store-figures.js';
import { createWorkflow, RELAY_COMPONENT, type Installation, type ServingTarget } from './targets.js';

export interface RolesOptions extends EngineOptions {
  readonly copies: Partial<Readonly<Record<RoleName, number>>>;
  /** Number of sources, each with its own webhook. One source is one lane, so copies need several. */
  readonly emitters: number;
  /** Workflows of so many steps in the place of sources. */
  readonly steps?: number | undefined;
  /** Sandbox processes of a runner. By default each source keeps its own; with fewer, their starts are measured too. */
  readonly sandboxes?: number | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface RolesStart {
  readonly enginesMs: Readonly<Record<string, number>>;
  /** Time from spawn to the first 200 of /readyz, with all roles started at once. With copies it is the last one's. */
  readonly readyMs: Readonly<Record<string, number>>;
  /** Usage without load: CPU µs a second, and memory. */
  readonly idle: readonly PartUsage[];
}

export interface RolesTarget extends ServingTarget {
  readonly deployment: Deployment;
  readonly started: RolesStart;
}

export const sandboxesOf = ({ emitters, sandboxes }: RolesOptions): number =>
  sandboxes ?? Math.max(SETTINGS.sandboxes.fallback, emitters);

const CALM_MS = 3_000;
const IDLE_MS = 10_000;
/** Sources deployed at once. */
const AT_ONCE = 8;

interface RunningRoles extends Installation {
  readonly deployment: Deployment;
  readonly engines: EngineProcesses;
}

/** Starts fresh engines and one process per role. */
export const openRoles = async (options: RolesOptions): Promise<RunningRoles> => {
  const engines = await startEngineProcesses(options);
  const { copies, env, kafkaBrokers = 1 } = options;
  const settings = {
    SLUICE_KAFKA_REPLICATION: String(kafkaBrokers),
    SLUICE_SANDBOXES: String(sandboxesOf(options)),
  };
  const deployment = new Deployment({ engines: engines.addresses, copies, env: { ...settings, ...env } });
  const api = new ApiClient(deployment);
  const close = async (): Promise<void> => {
    await api.close();
    await deployment.close();
    await engines.stop();
  };
  const slowest = (): number => Math.max(...deployment.all.map(({ readyMs }) => readyMs));
  try {
    await deployment.start();
  } catch (error) {
    await close();
    throw error;
  }
  const restart = async (): Promise<number> => {
    await deployment.restart();
    return slowest();
  };
  const parts = (): readonly Part[] => partsOf(deployment, engines);
  return { server: deployment, deployment, engines, api, parts, restart, close };
};

/** Load goes directly to the ingress processes, past the test's proxy. */
export const startRoles = async (sinkUrl: string, options: RolesOptions): Promise<RolesTarget> => {
  const { deployment, engines, api, parts, close } = await openRoles(options);
  try {
    const paths = await deployEmitters(deployment, api, options, sinkUrl);
    const ingress = deployment.processes.ingress.map(({ url }) => url);
    return {
      name: 'roles',
      // Each connection stays with one process. With several ingress processes, sources are divided among them.
      urls: paths.map((path, n) => `${ingress[n % ingress.length] ?? ''}${path}`),
      parts,
      api,
      deployment,
      stop: close,
      stores: () => storeTotals(storesOf(deployment, engines)),
      started: {
        enginesMs: engines.startMs,
        readyMs: Object.fromEntries(
          ROLES.map((role) => [role, Math.max(...deployment.processes[role].map(({ readyMs }) => readyMs))]),
        ),
        idle: await idleUsage(parts()),
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
};

const partsOf = ({ processes }: Deployment, engines: EngineProcesses): readonly Part[] => [
  ...ROLES.flatMap((role) => processes[role].map(({ pid }) => ({ name: role, pid }))),
  ...engines.parts(),
];

const storesOf = ({ settings }: Deployment, engines: EngineProcesses): Stores => ({
  kafka: engines.addresses.kafka,
  prefix: `${settings.SLUICE_PREFIX ?? ''}.`,
  kafkaData: engines.kafkaData,
  mongo: settings.SLUICE_MONGO_URL ?? '',
});

const deployEmitters = async (
  deployment: Deployment,
  api: ApiClient,
  { emitters, steps }: RolesOptions,
  sinkUrl: string,
): Promise<readonly string[]> => {
  const component = await api.createComponent(RELAY_COMPONENT);
  const create = async (): Promise<{ readonly id: string; readonly url: string }> => {
    if (steps !== undefined) return createWorkflow(api, steps);
    const source = await api.createSource({ component_id: component.id });
    return { id: source.id, url: endpointOf(deployment, source) };
  };
  const paths: string[] = [];
  const deploy = async (): Promise<void> => {
    const emitter = await create();
    const webhook = await api.createWebhook(sinkUrl);
    await api.subscribe(emitter.id, webhook.id);
    paths.push(new URL(emitter.url).pathname);
  };
  await inParallel(emitters, deploy, AT_ONCE);
  return paths;
};

const idleUsage = async (parts: readonly Part[]): Promise<readonly PartUsage[]> => {
  await pause(CALM_MS);
  const before = usageOf(parts);
  await pause(IDLE_MS);
  return cpuSince(before, usageOf(parts)).map((part) => ({ ...part, cpuUs: part.cpuUs / (IDLE_MS / 1_000) }));
};
