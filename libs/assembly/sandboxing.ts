import { type Config } from '#libs/config/index.js';
import { EgressSockets } from '#libs/egress/egress-sockets.js';
import { createEgress, type Egress } from '#libs/egress/guarded-dispatcher.js';
import { createInspector, type Inspector } from '#libs/runtime/inspector.js';
import { detectIsolation } from '#libs/runtime/jail/detect.js';
import { folderPrefix } from '#libs/runtime/jail/stale-folders.js';
import { type JailLevel } from '#libs/runtime/jail/jail-level.js';
import { type ClosableSandboxFactory, createSandboxFactory } from '#libs/runtime/process-sandbox.js';
import { SandboxPool } from '#libs/runtime/sandbox-pool.js';

export interface Sandboxing {
  readonly level: JailLevel;
  readonly egress: Egress;
  readonly sockets: EgressSockets;
  readonly factory: ClosableSandboxFactory;
  readonly pool: SandboxPool;
  readonly inspector: Inspector;
  close(): Promise<void>;
}

/** Where user code runs, and the one way out of it and of the server. */
export const startSandboxing = async (config: Config): Promise<Sandboxing> => {
  const level = await detectIsolation(config.isolation);
  const egress = createEgress({ allow: config.egressAllow });
  const sockets = await EgressSockets.create(folderPrefix('egress'), { policy: egress.policy, lookup: egress.lookup });
  const factory = createSandboxFactory({
    level,
    limits: { memoryMb: config.memoryMb },
    egressSocket: (_workspaceId, sourceId) => sockets.pathFor(sourceId),
  });
  const pool = new SandboxPool(factory, { maxWarm: config.sandboxes, idleMs: config.sandboxIdleS * 1_000 });
  const inspector = createInspector({ level, memoryMb: config.memoryMb });
  return {
    ...{ level, egress, sockets, factory, pool, inspector },
    async close() {
      await pool.close();
      await factory.close();
      await inspector.close();
      await sockets.close();
      await egress.close();
    },
  };
};

/** Where a component is looked at before it is deployed: a jail without network. */
export const startInspecting = async (
  config: Config,
): Promise<Pick<Sandboxing, 'level' | 'egress' | 'inspector' | 'close'>> => {
  const level = await detectIsolation(config.isolation);
  const egress = createEgress({ allow: config.egressAllow });
  const inspector = createInspector({ level, memoryMb: config.memoryMb });
  return {
    ...{ level, egress, inspector },
    async close() {
      await inspector.close();
      await egress.close();
    },
  };
};

/**
 * Without a jail, components of one workspace could reach what another's process holds. Whoever runs several workspaces
 * must have said that this is wanted. Throws when it was not.
 */
export const checkIsolation = (level: JailLevel, setting: Config['isolation'], workspaces: number): void => {
  if (level.name !== 'process' || workspaces <= 1 || setting === 'process') return;
  throw new Error(
    `isolation level "process" is too weak for ${workspaces} workspaces, and no jail works here ` +
      `(${level.unavailable.join('; ')}): mend that, or accept it with SLUICE_ISOLATION=process`,
  );
};
