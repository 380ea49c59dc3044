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

/** Runs that take longer to end are stopped, and run again by the next owner of their source. */
const CLOSE_MS = 12_000;

/** Role `runner`, any number of copies: step 2 of the path of an event. Steps 1 to 4 of the start are those of every role. */
runRole(
  'runner',
  (options) => openDistributed({ ...options, takesUpOutboxes: true }),
  async (role) => {
    const { config, plane, topics, urls, logger, metrics, reporter, closing, observeLag } = role;

    // 5. User code's jail.
    const sandboxing = await startSandboxing(config, logger);
    closing('sandboxes', () => sandboxing.close());
    checkIsolation(sandboxing.level, config, plane.views.callers.workspaceCount());
    logger.info(isolationFacts(sandboxing.level), 'sandbox.ready');
    const { warning, unavailable } = sandboxing.level;
    if (warning !== null) logger.warn({ unavailable }, warning);

    // 6. Runs and hooks, shared out by source; answers go back over the log to who waits.
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

    // 7. What it tells of itself.
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
