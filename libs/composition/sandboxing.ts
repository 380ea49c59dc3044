import { shareOfHeap } from '#libs/kernel/heap-share.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { type Config } from '#libs/config/index.js';
import { EgressSockets } from '#libs/egress/egress-sockets.js';
import { type Egress } from '#libs/egress/guarded-dispatcher.js';
import { type RefusalLogger } from '#libs/egress/refusal-log.js';
import { Expressions } from '#libs/expressions/index.js';
import {
  type ComponentCaller,
  createInspector,
  type Inspector,
  type PackageSource,
  folderPrefix,
  type JailLevel,
  type ClosableSandboxFactory,
  createSandboxFactory,
  DEFAULT_CALL_LIMITS,
  processCaller,
  RunsMemory,
  SandboxPool,
} from '#libs/sandbox/index.js';
import { SecretMask } from '#libs/runner/outcome/secret-mask.js';
import { type PackageStore } from '#libs/packages/package-store.js';
import { levelFor } from '#libs/hosting/isolation.js';
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
  /** Starts its process with the first definition of a workflow. */
  readonly definitions: Expressions;
  readonly packages: PackageStore;
  close(): Promise<void>;
}

/** Starts the sandboxes of user code, and the guard through which all requests leave them and the server. */
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
  const { sandboxes: maxWarm, memoryMb: placeMb, sandboxIdleS } = config;
  const pool = new SandboxPool(factory, { maxWarm, placeMb, idleMs: sandboxIdleS * 1_000, clock });
  const packages = openPackages(config, level, logger, metrics);
  const inspector = inspectorFor(level, config, clock, packages);
  const definitions = new Expressions(level);
  return {
    level,
    egress,
    sockets,
    factory,
    pool,
    memory,
    inspector,
    caller: callerFor(pool),
    definitions,
    packages,
    async close() {
      await pool.close();
      await factory.close();
      await inspector.close();
      await definitions.close();
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
 * Starts the inspector, which evaluates a component in a jail without network before its deployment, and the caller of
 * its options and additionalProps.
 */
export const startInspecting: typeof startSandboxing = (config, ...others) =>
  // No process of a source runs here, so idle processes of actions may only take the place of calls.
  startSandboxing({ ...config, sandboxes: Math.min(config.sandboxes, DEFAULT_CALL_LIMITS.atOnce) }, ...others);
