import { ClusterBacklog } from '#libs/cluster/cluster.js';
import { pressureOf, pressureSettings } from '#libs/composition/pressure.js';
import { runRole } from '#libs/composition/role.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { startRouter } from '#libs/routing/router.js';
import { countedLog } from '#libs/stream-log/counted-log.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';
import { EMITS } from '#libs/stream-log/topics.js';

/** Role `router`, any number of processes: step 4 of the path of an event. `runRole` does steps 1 to 4. */
runRole('router', openDistributed, async (role) => {
  const { config, plane, topics, reporter, logger, metrics, observeLag, closing } = role;
  // 5. The router, which turns emits into invocations and deliveries.
  const { engines, views, clock } = plane;
  const limits = pressureSettings(config);
  const handedOver = new HandedOver(limits.source);
  const backlog = new ClusterBacklog(engines.registry, (error) => logger.warn({ err: error }, 'backlog.unknown'));
  backlog.start();
  closing('backlog', async () => backlog.close());
  const router = await startRouter({
    log: countedLog(engines.log, handedOver),
    topics,
    table: views.subscriptions,
    clock,
    logger,
    listeners: {
      waitingFor: (sourceId) => backlog.waitingFor(sourceId),
      limit: limits.listener,
      loopLimit: limits.unrouted,
    },
  });
  closing('router', () => router.close());

  // 6. Reports and metrics.
  reporter.worksOff(
    () => router.backlog(),
    () => pressureOf(handedOver, (id) => router.unroutedOf(id)),
  );
  metrics.sampled('sluice_router', 'What became of emits', () => ({ ...router.metrics, failures: router.failures() }));
  observeLag('router', EMITS);
});
