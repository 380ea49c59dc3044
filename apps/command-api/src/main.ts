import { createApi, manualRunsOf } from '#libs/assembly/api.js';
import { appliedEverywhere } from '#libs/assembly/cluster.js';
import { type Handler } from '#libs/assembly/front.js';
import { runRole } from '#libs/assembly/role.js';
import { checkIsolation, startInspecting } from '#libs/assembly/sandboxing.js';
import { appliedEventsIn } from '#libs/assembly/stream-projections.js';
import { webhookTopics } from '#libs/assembly/topic-policy.js';
import { startUpkeep } from '#libs/assembly/upkeep.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { openReplyChannel } from '#libs/ingress/reply-channel.js';
import { hooksOverLog } from '#libs/runtime/hooks-over-log.js';
import { sourceTopics } from '#libs/runtime/source-topics.js';
import { ownerOnce } from './owner.js';

/** Role `command-api`, any number of copies: every change. Steps 1 to 4 of the start are those of every role. */
runRole('command-api', openDistributed, async (role) => {
  const { id, config, plane, topics, urls, front, metrics, readiness, nestLogger, logger, shuttingDown, closing } =
    role;
  const { engines, clock } = plane;
  const { log, readModels, registry, events, journal, ticks, schedule } = engines;

  // 5. A jail for looking at components, and the one way out.
  const inspecting = await startInspecting(config, logger);
  closing('inspector', () => inspecting.close());
  checkIsolation(inspecting.level, config, plane.views.callers.workspaceCount());

  // 6. Where answers of hooks and of runs by hand come back.
  const channel = await openReplyChannel({ log, processId: id, logger });
  closing('replies', () => channel.close());
  const { relay } = channel;
  const timeoutMs = config.hookTimeoutS * 1_000;
  const hookRunner = hooksOverLog({ log, topics, relay, clock, timeoutMs, events });
  // The runner of a source ends its process when the topic goes.
  const topicsOfSources = sourceTopics({ log, topics, journal, ticks, forget: async () => undefined });

  // 7. The first start's owner, and what a crash leaves half done: one process at a time.
  const readYourWrites = appliedEverywhere(readModels, registry, plane.follower, logger);
  await ownerOnce(role);
  role.leased({
    name: 'upkeep',
    start: () =>
      startUpkeep({
        ...{ config, plane, sourceTopics: topicsOfSources, logger },
        settled: (sourceId) => hookRunner.settled(sourceId),
      }),
  });

  // 8. The API without what reads.
  const api = await createApi({
    ...{ config, plane, topics, urls, metrics, readiness, logger: nestLogger, log: logger, shuttingDown },
    ...{ hookRunner, readYourWrites, sourceTopics: topicsOfSources },
    manualRuns: manualRunsOf({ config, plane, topics }, relay),
    webhookTopics: webhookTopics(log, topics, schedule),
    appliedEvents: appliedEventsIn(engines, config, logger),
    ...inspecting,
    serves: 'commands',
  });
  closing('api', () => api.close());
  front.serve(api.getHttpAdapter().getInstance() as Handler);
  closing('requests', () => front.close(5_000));
});
