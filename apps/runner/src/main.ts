import { runRole } from '#libs/assembly/role.js';
import { startRuns } from '#libs/assembly/runs.js';
import { checkIsolation, startSandboxing } from '#libs/assembly/sandboxing.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { repliesOverLog } from '#libs/ingress/replies-over-log.js';
import { levelLabel } from '#libs/runtime/jail/jail-level.js';
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
    const sandboxing = await startSandboxing(config);
    closing('sandboxes', () => sandboxing.close());
    checkIsolation(sandboxing.level, config.isolation, plane.views.callers.workspaceCount());
    logger.info({ isolation: levelLabel(sandboxing.level) }, sandboxing.level.warning ?? 'sandbox.ready');

    // 6. Runs and hooks, shared out by source; answers go back over the log to who waits.
    const replies = repliesOverLog(plane.engines.log, logger);
    const runner = await startRuns({ config, plane, topics, sandboxing, urls, replies, metrics, logger });
    closing('runs', () => runner.close(CLOSE_MS));

    // 7. What it tells of itself.
    reporter.worksOff(() => runner.backlog());
    metrics.sampled('sluice_sandboxes', 'Processes of sources', () => ({ ...sandboxing.pool.stats() }), 'state');
    observeLag('runner', INVOCATIONS);
  },
);
