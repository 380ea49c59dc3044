import { type Config, loadConfig } from '#libs/config/index.js';
import { ClusterBacklog, highestOf, ProcessReporter } from '#libs/cluster/cluster.js';
import { LiveCallers } from '#libs/cluster/live-callers.js';
import { tellClockSkew } from '#libs/hosting/clock-skew.js';
import { EnginesAwaited } from '#libs/hosting/engines-awaited.js';
import { type Handler, stillStarting } from '#libs/hosting/http-listener.js';
import { writeServerFile } from '#libs/hosting/server-file.js';
import { type Shutdown } from '#libs/hosting/shutdown.js';
import { createTelemetryApp } from '#libs/hosting/telemetry-app.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { OperatorAccess } from '#libs/http/operator-access.js';
import { LoggedBacklog, type LoggedGroup } from '#libs/ingress/logged-backlog.js';
import { LeasedWork, type LeasedWorkOptions } from '#libs/kernel/leased-work.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type PlatformEvents } from '#libs/platform-events/platform-events.js';
import { createFixedTopics, keepFixedTopics } from '#libs/stream-log/fixed-topics.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics, type Readiness } from '#libs/telemetry/index.js';
import { type ControlPlane, followControlPlane } from './control-plane.js';
import { type RemoteEngines } from './engines.js';
import { sampleInHand, sampleLag } from './pressure.js';
import { type RoleProcess } from './roles/role-process.js';
import { roleProcess, start, type Started } from './start.js';
import { topicPolicy } from './topic-policy.js';

export interface OpenEngines {
  readonly config: Config;
  readonly clientId: string;
  readonly onWarning: (text: string, fields: object) => void;
  readonly retentionOf: TopicPolicy['retentionOf'];
  /** Retries opening an engine until it is available. */
  readonly awaiting: <T>(engine: string, open: () => Promise<T>) => Promise<T>;
}

/** One process of a distributed installation, for the steps of its role. */
export interface Role extends RoleProcess, Omit<Started, 'shutdown' | 'timings'> {
  readonly reporter: ProcessReporter;
  readonly platformEvents: PlatformEvents;
  /** Serves `/healthz`, `/readyz` and `/metrics`, for a role without routes of its own. */
  readonly serveTelemetry: Handler;
  readonly shuttingDown: () => boolean;
  /** Ends the process after an error that it must not run with. */
  readonly fail: (error: Error) => void;
  /** Starts to follow the backlogs that all processes report. */
  readonly startBacklog: () => ClusterBacklog;
  /** Also counts the log's records in lanes of these groups (default: all) that no process owns. */
  readonly startLoggedBacklog: (groups?: readonly LoggedGroup[]) => LoggedBacklog;
  /** Starts to follow the processes that await answers. */
  readonly followCallers: () => LiveCallers;
}

/**
 * Starts one role on the distributed engines. This function has the steps that all such roles share; `steps` starts the
 * role itself. `tables` are in-memory tables of this role only.
 */
export const runRole = (
  name: string,
  openEngines: (options: OpenEngines) => Promise<RemoteEngines>,
  steps: (role: Role) => Promise<void> | void,
  tables: readonly LiveView[] = [],
): void =>
  start(name, {
    settings: (warn) => ({ config: distributedConfig(name, warn) }),
    steps: async (started) => {
      const { id, config, logger, shutdown, metrics, readiness, timings, front } = started;

      // Health checks answer while the process waits for the engines.
      const starting = { isOver: false };
      const serveTelemetry = await serveHealth(started, starting);

      // 3. Engines, however long they take to become available.
      const topics = topicPolicy(config);
      const waiting = new EnginesAwaited(logger, readiness, shutdown);
      const engines = await openEngines({
        config,
        clientId: `${name}-${id}`,
        onWarning: (text, fields) => logger.warn(fields, text),
        retentionOf: (topic) => topics.retentionOf(topic),
        awaiting: (engine, open) => waiting.until(engine, open),
      });
      watchEngines(engines, { waiting, shutdown, metrics });
      tellClockSkew(engines.clock, { readiness, metrics, logger, shutdown });
      timings.end('engines');

      // 4. Topics, and in-memory tables caught up with the log.
      await makeTopics(engines, topics, { waiting, logger, shutdown });
      timings.end('topics');
      const plane = await followTables(engines, { shutdown, readiness, tables });
      timings.end('tables');

      // 5. The role itself.
      await steps({ ...started, ...roleOn(engines, plane, topics, started), serveTelemetry });
      starting.isOver = true;
      timings.end('role');
      logger.info({ id, port: front.port, ms: timings.totalMs(), steps: timings.steps }, 'server.started');
    },
  });

/** Services of a process with one role. */
const roleOn = (
  engines: RemoteEngines,
  plane: ControlPlane,
  topics: TopicPolicy,
  started: Started,
): Omit<Role, keyof Started | 'serveTelemetry'> & Pick<RoleProcess, 'config' | 'logger' | 'metrics'> => {
  const { id, name, logger, shutdown, metrics } = started;
  const reporter = startReporter(id, name, plane, logger, shutdown);
  const reportLag = lagsOfGroups(engines.log, metrics);
  return {
    ...roleProcess(started, plane, topics, {
      // Freshness of the tables of a process for which commands wait while it reports to the registry (docs/adr/0007).
      highestReached: async () => highestOf(await engines.registry.live()),
      awaitedSince: () => reporter.awaitedSince(),
      leased: async (options) => startLeased(options, engines, logger, shutdown),
      reportBacklog: (workload) => {
        reporter.worksOff(workload.backlog, workload.pressure);
        reportLag(workload);
      },
      reportLag,
    }),
    reporter,
    shuttingDown: () => shutdown.begun,
    fail: (error) => shutdown.fail(error),
    startBacklog: () => startBacklog(engines, logger, shutdown),
    startLoggedBacklog: (groups) => startLoggedBacklog({ engines, topics, logger, shutdown }, groups),
    followCallers: () => followCallers(engines, logger, shutdown),
  };
};

/** A process with outdated tables would lose events, so it ends. Its successor reads the log from the start. */
const tablesStopped = (cause: Error): Error => new Error('the tables in memory stopped', { cause });

const makeTopics = async (
  { log }: RemoteEngines,
  topics: TopicPolicy,
  {
    waiting,
    logger,
    shutdown,
  }: { readonly waiting: EnginesAwaited; readonly logger: Logger; readonly shutdown: Shutdown },
): Promise<void> => {
  await waiting.until('Kafka', () => createFixedTopics(log, topics));
  const keeping = keepFixedTopics(log, topics, logger);
  shutdown.add('topics', () => keeping.stop());
};

const followTables = async (
  engines: RemoteEngines,
  {
    shutdown,
    readiness,
    tables,
  }: {
    readonly shutdown: Shutdown;
    readonly readiness: Readiness;
    readonly tables: readonly LiveView[];
  },
): Promise<ControlPlane> => {
  const plane = await followControlPlane(
    engines,
    engines.clock,
    (error) => shutdown.fail(tablesStopped(error)),
    tables,
  );
  shutdown.add('tables in memory', () => plane.follower.stop());
  shutdown.add('usage', () => plane.usage.close());
  readiness.register('tables in memory', () => plane.follower.status().failure);
  return plane;
};

/** Makes the other processes wait for this one until its work has ended. */
const startReporter = (
  id: string,
  name: string,
  { engines, follower }: ControlPlane,
  logger: Logger,
  shutdown: Shutdown,
): ProcessReporter => {
  const onFailure = (error: Error): void => logger.warn({ err: error }, 'process.report_failed');
  const reporter = new ProcessReporter(engines.registry, id, name, onFailure);
  reporter.follows(() => follower.position());
  follower.onMoved(() => reporter.moved());
  reporter.start();
  shutdown.add('report', () => reporter.close());
  return reporter;
};

const followCallers = ({ registry }: RemoteEngines, logger: Logger, shutdown: Shutdown): LiveCallers => {
  const callers = new LiveCallers(registry);
  callers.follow((error) => logger.warn({ err: error }, 'callers.unknown'));
  shutdown.add('callers', () => callers.close());
  return callers;
};

const startLeased = (
  options: Omit<LeasedWorkOptions, 'leases' | 'onFailure'>,
  { leases }: RemoteEngines,
  logger: Logger,
  shutdown: Shutdown,
): void => {
  const onFailure = (error: Error): void => logger.error({ err: error, lease: options.name }, 'leased_work.failed');
  const work = new LeasedWork({ ...options, leases, onFailure });
  work.start();
  shutdown.add(options.name, () => work.stop());
};

/** Exports the lag of each given consumer group over all processes. */
const lagsOfGroups = (log: StreamLog, metrics: Metrics): RoleProcess['reportLag'] => {
  const prefixes = new Map<string, string>();
  const lagOf = async ([group, prefix]: readonly [string, string]): Promise<readonly [string, number]> => {
    const lags = Object.values(await log.lag(group, { prefix }));
    return [group, lags.reduce((sum, lag) => sum + lag, 0)];
  };
  return ({ group, prefix }) => {
    // A process without a group exports no metric of that name.
    if (prefixes.size === 0)
      sampleLag(metrics, async () => Object.fromEntries(await Promise.all([...prefixes].map(lagOf))));
    prefixes.set(group, prefix);
  };
};

const watchEngines = (
  engines: RemoteEngines,
  { waiting, shutdown, metrics }: { waiting: EnginesAwaited; shutdown: Shutdown; metrics: Metrics },
): void => {
  shutdown.add('engines', () => engines.close());
  waiting.watch(engines);
  metrics.sampled(
    'sluice_skipped',
    'Records that were gone before a consumer group had read them, since the start of this process',
    () => engines.skipped(),
    'group',
  );
  sampleInHand(metrics, () => engines.inHand());
};

const startBacklog = ({ registry }: RemoteEngines, logger: Logger, shutdown: Shutdown): ClusterBacklog => {
  const backlog = new ClusterBacklog(registry, (error) => logger.warn({ err: error }, 'backlog.unknown'));
  backlog.start();
  shutdown.add('backlog', async () => backlog.close());
  return backlog;
};

const startLoggedBacklog = (
  own: { engines: RemoteEngines; topics: TopicPolicy; logger: Logger; shutdown: Shutdown },
  groups?: readonly LoggedGroup[],
): LoggedBacklog => {
  const { engines, topics, logger, shutdown } = own;
  const logged = new LoggedBacklog({
    reported: startBacklog(engines, logger, shutdown),
    log: engines.log,
    topics,
    ...(groups && { groups }),
    onFailure: (error) => logger.warn({ err: error }, 'backlog.unknown: the log does not tell'),
  });
  logged.start();
  shutdown.add('logged backlog', () => logged.close());
  return logged;
};

const TELEMETRY = /^\/(healthz|readyz|metrics)(\?|$)/;

const serveHealth = async (
  { config, front, metrics, readiness, nestLogger, shutdown }: Started,
  starting: { readonly isOver: boolean },
): Promise<Handler> => {
  const access = new OperatorAccess(config.metrics, new TrustedProxies(config.trustedProxies), config.publicUrl);
  const telemetry = await createTelemetryApp({ metrics, readiness, access, logger: nestLogger });
  const serveTelemetry = telemetry.getHttpAdapter().getInstance() as Handler;
  shutdown.add('telemetry', () => telemetry.close());
  readiness.register('process', () => (shutdown.begun ? 'shutting down' : starting.isOver ? undefined : 'starting'));
  // A caller that is too early must retry, so it is not told that the path does not exist.
  front.serve((req, res) =>
    starting.isOver || TELEMETRY.test(req.url ?? '') ? serveTelemetry(req, res) : stillStarting(req, res),
  );
  writeServerFile(config.dataDir, { port: front.port, pid: process.pid, url: `http://${config.host}:${front.port}` });
  shutdown.add('port', () => front.close(5_000));
  return serveTelemetry;
};

const distributedConfig = (name: string, warn: (text: string) => void): Config => {
  const config = loadConfig(process.env, warn);
  if (config.engine === 'distributed') return config;
  throw new Error(`${name} runs on servers that it shares with the other roles: set SLUICE_ENGINE=distributed`);
};
