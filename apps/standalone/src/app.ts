import { steeringOverLog } from '#libs/runner/workflow/steering-over-log.js';
import { type ApiOptions, appEventsOf, createApi, manualRunsOf, workflowInvokesOf } from '#libs/composition/api.js';
import { dataStoresOf, startControlPlane, type WholeControlPlane } from '#libs/composition/control-plane.js';
import { DiskWatch } from '#libs/hosting/disk-watch.js';
import { type Handler } from '#libs/hosting/http-listener.js';
import { readYourWritesAndReactions } from '#libs/kernel/read-your-writes.js';
import { reactorsOf } from '#libs/composition/contexts.js';
import { reactorPorts } from '#libs/composition/reactions.js';
import { everyReadModel } from '#libs/composition/read-models.js';
import { endWithParent, ENDS_WITH_PARENT } from '#libs/hosting/end-with-parent.js';
import { checkIsolation } from '#libs/hosting/isolation.js';
import { type Sandboxing, startSandboxing } from '#libs/composition/sandboxing.js';
import { writeServerFile } from '#libs/hosting/server-file.js';
import { start, type Started } from '#libs/composition/start.js';
import { type Shutdown } from '#libs/hosting/shutdown.js';
import { topicPolicy } from '#libs/composition/topic-policy.js';
import { createFixedTopics } from '#libs/stream-log/fixed-topics.js';
import { startBulkReplays } from '#libs/composition/bulk-replays.js';
import { reconcile, startMaintenance } from '#libs/composition/maintenance.js';
import {
  checkSecretKeyUnchanged,
  type Config,
  loadConfig,
  previousKeyOf,
  secretKeyOf,
  weakApiKey,
  WrongSettings,
} from '#libs/config/index.js';
import { startRegistry } from '#libs/composition/registry.js';
import { rebuildReadModels } from '#libs/cluster/rebuild.js';
import { type DataDirectory, inspectDataDirectory, readModelsRestored } from '#libs/engines/embedded/data-directory.js';
import { type EmbeddedEngines, openEmbedded } from '#libs/engines/embedded/index.js';
import { systemClock } from '#libs/kernel/clock.js';
import { SubscriptionTable } from '#libs/routing/subscription-table.js';
import { ReactorRunner } from '#libs/kernel/reactor.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics, type Readiness } from '#libs/telemetry/index.js';
import { bootstrap } from '#libs/tenancy/index.js';
import { announce } from './announce.js';
import { type EveryRole, startEveryRole } from './every-role.js';
import { observe } from './observe.js';
import { type PlatformEvents } from '#libs/platform-events/platform-events.js';
import { startEmails } from '#libs/composition/emails.js';
import { oneProcess } from './one-process.js';

if (process.argv.includes(ENDS_WITH_PARENT)) endWithParent();

/** The router's table, fed by the one reader of the event log. */
const table = new SubscriptionTable();

const settings = (warn: (text: string) => void): { config: Config; directory: DataDirectory } => {
  // Checked before the other settings, which would require addresses of engines that this process never uses.
  if (process.env.SLUICE_ENGINE?.trim() === 'distributed') {
    throw new WrongSettings([
      'SLUICE_ENGINE is "distributed", but `npm start` has every role in one process, on the embedded engine: unset it, ' +
        'or start one process a role with `node dist/apps/<role>/src/main.js` (docs/how-to/scale-out.md)',
    ]);
  }
  const config = loadConfig(process.env, warn);
  const weak = weakApiKey(config);
  if (weak !== undefined) warn(weak);
  return { config, directory: inspectDataDirectory(config.dataDir, warn) };
};

/** Rebuilds the read models of an installation that has lost them, because their projections do not start again. */
const restoreReadModels = async (engines: EmbeddedEngines, config: Config, logger: Logger): Promise<void> => {
  logger.warn({ dataDir: config.dataDir }, 'read_models.rebuilding: read.db is missing');
  const rebuilt = await rebuildReadModels(engines, everyReadModel(config), {
    onProgress: (name, events) => logger.info({ name, events }, 'read_models.rebuilding'),
    onRetry: (name, error) => logger.warn({ name, err: error }, 'read_models.rebuilding_again'),
  });
  readModelsRestored(config.dataDir);
  logger.info({ readModels: rebuilt.length }, 'read_models.rebuilt');
};

const watchDisk = async (
  config: Config,
  logger: Logger,
  readiness: Readiness,
  shutdown: Shutdown,
): Promise<DiskWatch> => {
  const disk = await DiskWatch.start({
    dir: config.dataDir,
    floorBytes: config.diskFloorMb * 1024 * 1024,
    onFailure: (error) => logger.warn({ err: error }, 'disk.unknown'),
  });
  readiness.register('disk', () => disk.problem());
  shutdown.add('disk watch', () => disk.close());
  return disk;
};

const tellOfFullDisk = (disk: DiskWatch, { views }: WholeControlPlane, events: Pick<PlatformEvents, 'report'>): void =>
  disk.onFull((problem) => {
    for (const workspaceId of views.callers.workspaceIds())
      events.report({ kind: 'disk_low', workspaceId, subject: workspaceId, message: `events are refused: ${problem}` });
  });

const setUpOwner = async ({ handleCommand, clock, views, projectors }: WholeControlPlane, config: Config) => {
  const owner = await bootstrap({ handleCommand, clock, callers: views.callers }, config.apiKey ?? undefined);
  if (owner.position !== undefined) await projectors.waitFor(owner.position, 10_000);
  return owner;
};

interface ApiParts {
  readonly config: Config;
  readonly plane: WholeControlPlane;
  readonly topics: TopicPolicy;
  readonly roles: EveryRole;
  readonly sandboxing: Sandboxing;
  readonly disk: DiskWatch;
  readonly reactors: readonly ReactorRunner[];
  readonly workflowInvokes: ApiOptions['workflowInvokes'];
}

type Edge = Pick<ApiOptions, 'publicUrl' | 'urls' | 'metrics' | 'readiness' | 'logger' | 'log' | 'shuttingDown'>;

/** Creates the API with both halves, on the roles of this process. */
const openApi = (parts: ApiParts, edge: Edge) => {
  const { config, plane, topics, roles, sandboxing, disk, reactors } = parts;
  return createApi({
    ...edge,
    config,
    level: sandboxing.level,
    plane,
    topics,
    bytes: roles.bytes,
    sourceTopics: roles.sourceTopics,
    webhookTopics: roles.webhookTopics,
    readYourWrites: readYourWritesAndReactions(plane.projectors, plane.engines.events, reactors),
    hookRunner: roles.runner,
    manualRuns: manualRunsOf({ config, plane, topics }, roles.relay, roles.unread),
    runSteering: steeringOverLog({
      log: plane.engines.log,
      topics,
      relay: roles.relay,
      clock: plane.clock,
      workflows: plane.views.workflows,
    }),
    workflowInvokes: parts.workflowInvokes,
    appEvents: appEventsOf({ config, plane, topics, log: edge.log }, roles.unread),
    appliedEvents: roles.readModels.event_summaries,
    runsUnderWay: roles.runner,
    backlog: roles.backlog,
    inspector: sandboxing.inspector,
    caller: sandboxing.caller,
    definitions: sandboxing.definitions,
    packages: sandboxing.packages,
    noRoom: () => disk.error(),
    egress: sandboxing.egress,
    serves: 'everything',
  });
};

/** Opens the data directory with the key of its secrets. */
const openEngines = async (
  config: Config,
  logger: Logger,
  onFatal: (error: Error) => void,
): Promise<EmbeddedEngines> => {
  const { dataDir, secretKey: given, secretKeyPrevious } = config;
  const secretKey = secretKeyOf(dataDir, given, secretKeyPrevious);
  const previousKey = previousKeyOf(secretKeyPrevious);
  const engines = await openEmbedded({
    dataDir,
    secretKey,
    previousKey,
    clock: systemClock,
    onFatal,
    onWarning: (text) => logger.warn({}, text),
    onLargeLog: ({ file, bytes, cause }) =>
      cause === undefined
        ? logger.info({ file: `${file}.db-wal`, bytes }, 'write_ahead_log.small')
        : logger.error({ file: `${file}.db-wal`, bytes, cause }, 'write_ahead_log.large'),
  });
  checkSecretKeyUnchanged(dataDir, secretKey, given, secretKeyPrevious);
  return engines;
};

/** Starts the sandboxes while the control plane starts. Their first call of a data store comes later. */
const sandboxesOf = (
  starting: Promise<WholeControlPlane>,
  config: Config,
  logger: Logger,
  metrics: Metrics,
): Promise<Sandboxing> =>
  startSandboxing(
    config,
    systemClock,
    logger,
    { call: async (...call) => dataStoresOf(await starting, logger).call(...call) },
    metrics.packages,
  );

/** Every role in one process on the embedded engines. `start` does steps 1 and 2. */
const steps = async (started: Started, directory: DataDirectory): Promise<void> => {
  const { config, logger, shutdown, front, metrics, readiness, publicUrl, urls, timings } = started;

  // 3. Engines on the data directory, which only this process uses from here on.
  const fail = (error: Error): void => shutdown.fail(error);
  const engines = await openEngines(config, logger, fail);
  shutdown.add('engines', () => engines.close());
  if (directory.lacksReadModels) await restoreReadModels(engines, config, logger);
  const disk = await watchDisk(config, logger, readiness, shutdown);

  // 4. Read models and in-memory tables, caught up with the log, while the jail for user code is tested.
  const onFailure = (error: Error): void => logger.fatal({ err: error }, 'projection.stopped');
  const starting = startControlPlane(engines, systemClock, onFailure, fail, [table]);
  const [plane, sandboxing] = await Promise.all([starting, sandboxesOf(starting, config, logger, metrics)]);
  checkIsolation(sandboxing.level, config, plane.views.callers.workspaceCount());
  shutdown.add('projections', () => plane.projectors.stop());
  shutdown.add('usage', () => plane.usage.close());
  shutdown.add('sandboxes', () => sandboxing.close());

  // 5. The roles that move events.
  const topics = topicPolicy(config);
  await createFixedTopics(engines.log, topics);
  const own = oneProcess(started, plane, topics);
  tellOfFullDisk(disk, plane, own.platformEvents);
  const roles = await startEveryRole(own, { table, sandboxing, urls, publicUrl, disk, engines, onFailure: fail });
  await startEmails(own, publicUrl);

  // 6. Repair of interrupted operations, the owner of the first start, and reactions to events.
  const { ingress, sourceTopics } = roles;
  const reconciled = await reconcile(plane, sourceTopics);
  const owner = await setUpOwner(plane, config);
  const reactions = Object.values(reactorsOf(reactorPorts(own, plane.projectors))).map((make) => make());
  const reactors = [...reactions, ...roles.cleanUps].map(
    (reactor) => new ReactorRunner({ ...engines, reactor, upcasters: plane.upcasters, onFailure }),
  );
  await Promise.all(reactors.map((reactor) => reactor.start()));
  const operationEnded = (sourceId: string): Promise<void> => roles.runner.operationEnded(sourceId);
  const maintenance = await startMaintenance({ config, plane, sourceTopics, operationEnded, logger });
  shutdown.add('maintenance', () => maintenance.stop());
  shutdown.add('reactors', async () => void (await Promise.all(reactors.map((reactor) => reactor.stop()))));

  // 7. The API and, ahead of it, the endpoints.
  const shuttingDown = (): boolean => shutdown.begun;
  const edge = { publicUrl, urls, metrics, readiness, logger: started.nestLogger, log: logger, shuttingDown };
  const workflowInvokes = workflowInvokesOf({ plane, topics }, roles.relay, roles.unread);
  const api = await openApi({ config, plane, topics, roles, sandboxing, disk, reactors, workflowInvokes }, edge);
  shutdown.add('api', () => api.close());
  const bulkReplays = await startBulkReplays(config, plane, workflowInvokes, logger);
  shutdown.add('bulk replays', () => bulkReplays.stop());
  const registry = await startRegistry({ config, api, logger });
  shutdown.add('registry', () => registry.stop());
  const serveApi = api.getHttpAdapter().getInstance() as Handler;
  observe({ plane, readModels: roles.readModels, engines, reactors, metrics, readiness, shuttingDown });
  front.serve((req, res) => void (ingress.handle(req, res) || serveApi(req, res)));
  // Added last and so closed first, so that no new work arrives while the others end.
  shutdown.add('port', () => front.close(5_000));

  // 8. The announcement.
  writeServerFile(config.dataDir, { port: front.port, pid: process.pid, url: publicUrl });
  await announce({
    config,
    publicUrl,
    owner,
    level: sandboxing.level,
    reconciled,
    logger,
    ms: timings.sinceLoadedMs(),
  });
};

start('standalone', { settings, steps: (started, { directory }) => steps(started, directory) });
