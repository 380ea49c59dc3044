import { readModelsIn } from '#libs/composition/read-models.js';
import { createApi } from '#libs/composition/api.js';
import { readModelsApplied } from '#libs/cluster/cluster.js';
import { queriesOnly } from '#libs/composition/queries-only.js';
import { type Handler } from '#libs/hosting/http-listener.js';
import { httpBytesOf } from '#libs/composition/pressure.js';
import { runRole } from '#libs/composition/role.js';
import { webhookTopics } from '#libs/delivery/webhook-topics.js';
import { openDistributed } from '#libs/engines/distributed/index.js';

/** Role `query-api`, any number of processes: serves every read. `runRole` does steps 1 to 4. */
runRole('query-api', openDistributed, async (role) => {
  const { config, plane, topics, urls, front, metrics, readiness, nestLogger, logger, shuttingDown, closing } = role;
  const { readModels, log, due } = plane.engines;

  // 5. The API without its write routes.
  const api = await createApi({
    config,
    publicUrl: role.publicUrl,
    bytes: httpBytesOf(config),
    plane,
    topics,
    urls,
    metrics,
    readiness,
    logger: nestLogger,
    log: logger,
    shuttingDown,
    ...queriesOnly,
    readYourWrites: readModelsApplied(readModelsIn(readModels), plane.follower, logger),
    webhookTopics: webhookTopics(log, topics, due),
    serves: 'queries',
  });
  closing('api', () => api.close());
  front.serve(api.getHttpAdapter().getInstance() as Handler);
  closing('requests', () => front.close(5_000));
});
