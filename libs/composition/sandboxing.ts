import { isIPv4 } from 'node:net';
import { type CallersView } from '#libs/tenancy/index.js';
import { shareOfHeap } from '#libs/kernel/heap-share.js';
import { type Clock } from '#libs/kernel/clock.js';
import { asError } from '#libs/kernel/error-message.js';
import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { type Config } from '#libs/config/index.js';
import { EgressSockets } from '#libs/egress/egress-sockets.js';
import { type Egress } from '#libs/egress/guarded-dispatcher.js';
import { type RefusalLogger } from '#libs/egress/refusal-log.js';
import {
  type ComponentCaller,
  createInspector,
  type Inspector,
  type PackageSource,
  detectIsolation,
  IsolationUnavailable,
  folderPrefix,
  type JailLevel,
  missingOf,
  type Protection,
  type ClosableSandboxFactory,
  createSandboxFactory,
  DEFAULT_CALL_LIMITS,
  processCaller,
  RunsMemory,
  SandboxPool,
} from '#libs/sandbox/index.js';
import { SecretMask } from '#libs/runner/secret-mask.js';
import { type PackageStore } from '#libs/packages/package-store.js';
import { openEgress } from './egress.js';
import { openPackages, type InstallLogger, type InstallMetrics } from './packages.js';

export interface Sandboxing {
  readonly level: JailLevel;
  readonly egress: Egress;
  readonly sockets: EgressSockets;
  readonly factory: ClosableSandboxFactory;
  readonly pool: SandboxPool;
  readonly memory: RunsMemory;
  readonly inspector: Inspector;
  readonly caller: ComponentCaller;
  readonly packages: PackageStore;
  close(): Promise<void>;
}

/** Starts the sandboxes of user code, and the only way for requests out of them and of the server. */
export const startSandboxing = async (
  config: Config,
  clock: Clock,
  logger: RefusalLogger & InstallLogger,
  dataStores?: DataStoreAccess,
  metrics?: InstallMetrics,
): Promise<Sandboxing> => {
  const level = await levelFor(config);
  const egress = openEgress(config, logger);
  const sockets = await EgressSockets.create(folderPrefix('egress'), egress);
  const { memory, factory } = factoryFor(level, config, clock, sockets, dataStores);
  const pool = new SandboxPool(factory, { maxWarm: config.sandboxes, idleMs: config.sandboxIdleS * 1_000, clock });
  const packages = openPackages(config, level, logger, metrics);
  const inspector = inspectorFor(level, config, clock, packages);
  return {
    level,
    egress,
    sockets,
    factory,
    pool,
    memory,
    inspector,
    caller: callerFor(pool),
    packages,
    async close() {
      await pool.close();
      await factory.close();
      await inspector.close();
      await packages.close();
      await sockets.close();
      await egress.close();
    },
  };
};

const factoryFor = (
  level: JailLevel,
  config: Config,
  clock: Clock,
  sockets: EgressSockets,
  dataStores?: DataStoreAccess,
): Pick<Sandboxing, 'memory' | 'factory'> => {
  const memory = new RunsMemory({ bytes: shareOfHeap() });
  const factory = createSandboxFactory({
    level,
    memory,
    clock,
    ...(dataStores === undefined ? {} : { dataStores }),
    limits: { memoryMb: config.memoryMb },
    // Calls of components count together, because each has a name of its own.
    egressSocket: (workspaceId, sourceId) =>
      sockets.pathFor(workspaceId, sourceId, sourceId.startsWith('call_') ? 'calls' : sourceId),
    egressDone: (sourceId) => sockets.release(sourceId),
  });
  return { memory, factory };
};

/** Calls functions of components, in processes that have an egress socket each. */
const callerFor = (pool: SandboxPool): ComponentCaller =>
  processCaller({
    pool,
    masked: (outcome, secrets) => new SecretMask(secrets).outcome(outcome),
  });

const inspectorFor = (level: JailLevel, config: Config, clock: Clock, packages: PackageSource): Inspector =>
  createInspector({
    level,
    packages,
    clock,
    memoryMb: config.memoryMb,
    build: { timeoutMs: config.buildTimeoutS * 1_000 },
  });

/**
 * Starts what commands need of components: the inspector, which evaluates a component in a jail without network before it
 * is deployed, and the caller of its options and additionalProps.
 */
export const startInspecting = async (
  config: Config,
  clock: Clock,
  logger: RefusalLogger & InstallLogger,
  dataStores?: DataStoreAccess,
  metrics?: InstallMetrics,
): Promise<Pick<Sandboxing, 'level' | 'egress' | 'sockets' | 'inspector' | 'caller' | 'packages' | 'close'>> => {
  const level = await levelFor(config);
  const egress = openEgress(config, logger);
  const sockets = await EgressSockets.create(folderPrefix('egress'), egress);
  const { factory } = factoryFor(level, config, clock, sockets, dataStores);
  // Here is no room for processes of sources, so idle processes of actions may only take the place of calls.
  const maxWarm = Math.min(config.sandboxes, DEFAULT_CALL_LIMITS.atOnce);
  const pool = new SandboxPool(factory, { maxWarm, idleMs: config.sandboxIdleS * 1_000, clock });
  const packages = openPackages(config, level, logger, metrics);
  const inspector = inspectorFor(level, config, clock, packages);
  return {
    level,
    egress,
    sockets,
    inspector,
    caller: callerFor(pool),
    packages,
    async close() {
      await pool.close();
      await inspector.close();
      await factory.close();
      await sockets.close();
      await packages.close();
      await egress.close();
    },
  };
};

/**
 * The image contains the seccomp profile that its jails need, for users who only pulled it. Dockerfile and README start
 * with the same command (test/architecture/deployment.spec.ts).
 */
export const DOCKER_RUN =
  'docker run --rm --entrypoint cat sluice /app/deploy/seccomp.json > sluice-seccomp.json && ' +
  'docker run -p 127.0.0.1:3000:3000 -v sluice:/var/lib/sluice --security-opt seccomp=sluice-seccomp.json ' +
  '--security-opt apparmor=unconfined --security-opt no-new-privileges sluice';

type IsolationConfig = Pick<Config, 'isolation' | 'host' | 'inImage'>;

/** Throws IsolationUnavailable when no level that the setting accepts works. */
export const levelFor = async ({ isolation, inImage }: IsolationConfig): Promise<JailLevel> => {
  try {
    return await detectIsolation(isolation);
  } catch (error) {
    if (!(error instanceof IsolationUnavailable) || !inImage) throw error;
    throw new IsolationUnavailable(`${error.message}. In a container start it with: ${DOCKER_RUN}`);
  }
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

/**
 * Without a jail, a component can reach everything that the server's user can. That is accepted for one workspace on a
 * server that only this machine reaches. Otherwise the operator must set it; throws IsolationUnavailable if not.
 */
export const checkIsolation = (level: JailLevel, config: IsolationConfig, workspaces: number): void => {
  if (level.name !== 'process' || config.isolation === 'process') return;
  const reasons = level.unavailable.join('; ');
  if (config.inImage)
    throw new IsolationUnavailable(
      `components run in a jail only, and this container has none (${reasons}). Start it with: ${DOCKER_RUN} ` +
        `(or, for code that you trust, with -e SLUICE_ISOLATION=process)`,
    );
  const why =
    workspaces > 1
      ? `for ${workspaces} workspaces`
      : isLoopback(config.host)
        ? null
        : `for a server that others reach (SLUICE_HOST is ${config.host})`;
  if (why === null) return;
  throw new IsolationUnavailable(
    `isolation level "process" is too weak ${why}, and no jail works here (${reasons}): install bubblewrap or allow user ` +
      `namespaces, or, for code that you trust, set SLUICE_ISOLATION=process`,
  );
};

/**
 * Checks the isolation at start, and again whenever a workspace is added while the process runs. Then the process ends
 * by `fail`, because it would run the code of several workspaces without a wall between them.
 */
export const enforceIsolation = (
  level: JailLevel,
  config: IsolationConfig,
  callers: Pick<CallersView, 'workspaceCount' | 'watchWorkspaces'>,
  fail: (error: Error) => void,
): void => {
  checkIsolation(level, config, callers.workspaceCount());
  callers.watchWorkspaces((workspaces) => {
    try {
      checkIsolation(level, config, workspaces);
    } catch (error) {
      fail(asError(error));
    }
  });
};

/**
 * Checks, before a workspace is added, that servers with these settings still start. A pinned level of the distributed
 * engines is that of other machines, so it is not tried here.
 */
export const checkIsolationHere = async (
  config: IsolationConfig & Pick<Config, 'engine'>,
  workspaces: number,
): Promise<void> => {
  const elsewhere = config.engine === 'distributed';
  if (elsewhere && config.isolation !== 'auto') return;
  try {
    checkIsolation(await levelFor(config), config, workspaces);
  } catch (error) {
    if (!(error instanceof IsolationUnavailable) || !elsewhere) throw error;
    throw new IsolationUnavailable(
      `${error.message}. If components run on other machines, set SLUICE_ISOLATION here as it is there (jail, bwrap or unshare)`,
    );
  }
};

/** Fields of the log line at the start. */
export const isolationFacts = (level: JailLevel): { isolation: string; without?: readonly Protection[] } => {
  const without = missingOf(level);
  return { isolation: level.name, ...(without.length > 0 ? { without } : {}) };
};
