import { ClusterBacklog } from '#libs/cluster/cluster.js';
import { observeCpu } from '#libs/composition/observe.js';
import { pressureOf, pressureSettings } from '#libs/composition/pressure.js';
import { runRole } from '#libs/composition/role.js';
import { openHostDeaths, startRuns } from '#libs/composition/runs.js';
import { checkIsolation, isolationFacts, startSandboxing } from '#libs/composition/sandboxing.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { repliesOverLog } from '#libs/ingress/replies-over-log.js';
import { countedLog } from '#libs/stream-log/counted-log.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';
import { INVOCATIONS } from '#libs/stream-log/topics.js';

/** Time for runs to end. Longer runs are stopped, and the next owner of their source runs them again. */
const CLOSE_MS = 12_000;

/** Role `runner`, any number of processes: step 2 of the path of an event. `runRole` does steps 1 to 4. */
runRole(
  'runner',
  (options) => openDistributed({ ...options, takesUpOutboxes: true }),
  async (role) => {
    const { config, plane, topics, urls, logger, metrics, reporter, closing, observeLag } = role;

    // 5. The jail for user code.
    const sandboxing = await startSandboxing(config, logger);
    closing('sandboxes', () => sandboxing.close());
    checkIsolation(sandboxing.level, config, plane.views.callers.workspaceCount());
    logger.info(isolationFacts(sandboxing.level), 'sandbox.ready');
    const { warning, unavailable } = sandboxing.level;
    if (warning !== null) logger.warn({ unavailable }, warning);

    // 6. Runs and hooks, shared between processes by source. Outcomes go back to the waiting process over the log.
    const replies = repliesOverLog(plane.engines.log, logger);
    const hostDeaths = openHostDeaths(config, logger);
    const limits = pressureSettings(config);
    const handedOver = new HandedOver(limits.source);
    const { log, registry } = plane.engines;
    const backlog = new ClusterBacklog(registry, (error) => logger.warn({ err: error }, 'backlog.unknown'));
    backlog.start();
    closing('backlog', async () => backlog.close());
    const isPaused = (sourceId: string): boolean => backlog.unroutedOf(sourceId) >= limits.unrouted;
    const common = { config, plane, topics, sandboxing, urls, replies, metrics, logger, hostDeaths };
    const runner = await startRuns({ ...common, log: countedLog(log, handedOver), isPaused });
    closing('runs', () => runner.close(CLOSE_MS));
    closing('runs in flight', async () => hostDeaths.close());

    // 7. Reports and metrics.
    reporter.worksOff(
      () => runner.backlog(),
      () => pressureOf(handedOver, (id) => runner.waitingFor(id)),
    );
    metrics.sampled('sluice_sandboxes', 'Processes of sources', () => ({ ...sandboxing.pool.stats() }), 'state');
    metrics.sampled('sluice_runs_memory', 'Bytes held for runs', () => ({ ...sandboxing.memory.stats() }), 'what');
    observeCpu(sandboxing.pool, metrics);
    observeLag('runner', INVOCATIONS);
  },
);
