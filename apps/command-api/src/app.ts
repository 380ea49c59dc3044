import { dataStoresOf } from '#libs/composition/control-plane.js';
import { appEventsOf, createApi, manualRunsOf, workflowInvokesOf } from '#libs/composition/api.js';
import { appliedEverywhere } from '#libs/cluster/cluster.js';
import { type Handler } from '#libs/hosting/http-listener.js';
import { httpBytesOf } from '#libs/composition/pressure.js';
import { runRole } from '#libs/composition/role.js';
import { enforceIsolation } from '#libs/hosting/isolation.js';
import { startInspecting } from '#libs/composition/sandboxing.js';
import { appliedEventsIn, readModelsIn } from '#libs/composition/read-models.js';
import { webhookTopics } from '#libs/delivery/webhook-topics.js';
import { doorOfApi } from '#libs/ingress/pressure-settings.js';
import { startBulkReplays } from '#libs/composition/bulk-replays.js';
import { observeEgress } from '#libs/composition/egress-metrics.js';
import { startRegistry } from '#libs/composition/registry.js';
import { startMaintenance } from '#libs/composition/maintenance.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { openReplyChannel } from '#libs/ingress/reply-channel.js';
import { hooksOverLog } from '#libs/runner/source/hooks-over-log.js';
import { steeringOverLog } from '#libs/runner/workflow/steering-over-log.js';
import { sourceTopics } from '#libs/runner/source/source-topics.js';
import { ownerOnce } from './owner.js';

/** Role `command-api`, any number of processes: serves every change. `runRole` does steps 1 to 4. */
runRole('command-api', openDistributed, async (role) => {
  const { id, config, plane, topics, urls, front, metrics, readiness, logger, shuttingDown, closing } = role;
  const { engines, clock } = plane;
  const { log, readModels, registry, events, journal, ticks, delayed, due } = engines;

  // 5. A jail for inspecting components, and the egress guard.
  const inspecting = await startInspecting(config, plane.clock, logger, dataStoresOf(plane, logger), metrics.packages);
  closing('inspector', () => inspecting.close());
  enforceIsolation(inspecting.level, config, plane.views.callers, role.fail);
  observeEgress(inspecting.sockets.usage, metrics);

  // 6. The channel for outcomes of hooks and manual runs.
  const channel = await openReplyChannel({ log, processId: id, logger });
  readiness.register('answers', () => channel.problem());
  closing('replies', () => channel.close());
  const { relay } = channel;
  const timeoutMs = config.hookTimeoutS * 1_000;
  const hookRunner = hooksOverLog({ log, topics, relay, clock, timeoutMs, events });
  // The runner of a source ends the source's process when the topic is deleted.
  const topicsOfSources = sourceTopics({ log, topics, journal, ticks, delayed, due, forget: async () => undefined });

  // 7. The owner of the first start, and the repair of interrupted operations. One process at a time does each.
  const readYourWrites = appliedEverywhere(readModelsIn(readModels), registry, plane.follower, logger);
  await ownerOnce(role);
  await role.leased({
    name: 'maintenance',
    start: () =>
      startMaintenance({
        config,
        plane,
        sourceTopics: topicsOfSources,
        logger,
        operationEnded: (sourceId) => hookRunner.operationEnded(sourceId),
      }),
  });

  // 8. The API without its read routes. Its events of apps and manual runs have the limits of an ingress.
  const door = doorOfApi(role.startLoggedBacklog(), config, () => clock.now());
  const workflowInvokes = workflowInvokesOf({ plane, topics }, relay, door);
  const api = await createApi({
    config,
    publicUrl: role.publicUrl,
    bytes: httpBytesOf(config),
    plane,
    topics,
    urls,
    metrics,
    readiness,
    logger: role.nestLogger,
    log: logger,
    shuttingDown,
    hookRunner,
    readYourWrites,
    sourceTopics: topicsOfSources,
    manualRuns: manualRunsOf({ config, plane, topics }, relay, door),
    runSteering: steeringOverLog({ log, topics, relay, clock, workflows: plane.views.workflows }),
    workflowInvokes,
    appEvents: appEventsOf({ config, plane, topics, log: logger }, door),
    webhookTopics: webhookTopics(log, topics, due),
    appliedEvents: appliedEventsIn(engines, config, logger),
    ...inspecting,
    serves: 'commands',
  });
  closing('api', () => api.close());
  await role.leased({ name: 'bulk replays', start: () => startBulkReplays(config, plane, workflowInvokes, logger) });
  await role.leased({ name: 'registry', start: () => startRegistry({ config, api, logger }) });
  front.serve(api.getHttpAdapter().getInstance() as Handler);
  closing('requests', () => front.close(5_000));
});
