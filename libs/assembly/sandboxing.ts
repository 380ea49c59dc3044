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
