import { dataStoresOf } from '#libs/composition/control-plane.js';
import { runRole } from '#libs/composition/role.js';
import { startRunnerRole } from '#libs/composition/roles/runner.js';
import { enforceIsolation, isolationFacts } from '#libs/hosting/isolation.js';
import { startSandboxing } from '#libs/composition/sandboxing.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { repliesOverLog } from '#libs/ingress/replies-over-log.js';

/** Time for runs to end. Longer runs are stopped, and the next owner of their source runs them again. */
const CLOSE_MS = 12_000;

/** Role `runner`, any number of processes: steps 2 and 3 of the path of an event. `runRole` does steps 1 to 4. */
runRole(
  'runner',
  (options) => openDistributed({ ...options, relaysLeftOutboxes: true }),
  async (role) => {
    const { config, plane, urls, publicUrl, metrics, logger, closing, fail } = role;

    // 5. The jail for user code.
    const sandboxing = await startSandboxing(
      config,
      plane.clock,
      logger,
      dataStoresOf(plane, logger),
      metrics.packages,
    );
    closing('sandboxes', () => sandboxing.close());
    enforceIsolation(sandboxing.level, config, plane.views.callers, fail);
    logger.info(isolationFacts(sandboxing.level), 'sandbox.ready');
    const { warning, unavailable } = sandboxing.level;
    if (warning !== null) logger.warn({ unavailable }, warning);

    // 6. Runs and hooks, shared between processes by source. Outcomes return to the waiting process over the log.
    const replies = repliesOverLog(plane.engines.log, logger);
    // The emits of its runs may have no router.
    const backlog = role.startLoggedBacklog(['router']);
    await startRunnerRole(role, {
      backlog,
      sandboxing,
      urls,
      publicUrl,
      replies,
      callers: role.followCallers(),
      closeMs: CLOSE_MS,
    });
  },
);
