import { type Config, keepFilesPrivate, publicUrlOf } from '#libs/config/index.js';
import { heapWarning } from '#libs/hosting/heap-flag.js';
import { HttpListener } from '#libs/hosting/http-listener.js';
import { Shutdown } from '#libs/hosting/shutdown.js';
import { startProblem } from '#libs/hosting/start-problem.js';
import { pressureSettings } from '#libs/ingress/pressure-settings.js';
import { systemClock } from '#libs/kernel/clock.js';
import { newId } from '#libs/kernel/ids.js';
import { TableFreshness, type TableFreshnessOptions } from '#libs/kernel/table-freshness.js';
import { PlatformEvents } from '#libs/platform-events/platform-events.js';
import { type EndpointUrls, hostEndpointUrls, pathEndpointUrls } from '#libs/sources/index.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { createLogger, type Logger, Metrics, NestLogger, Readiness } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';
import { type RoleProcess } from './roles/role-process.js';

/** A process with its settings and its port, before it has engines. */
export interface Started {
  readonly id: string;
  readonly name: string;
  readonly config: Config;
  readonly logger: Logger;
  readonly nestLogger: NestLogger;
  readonly shutdown: Shutdown;
  readonly front: HttpListener;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly publicUrl: string;
  readonly urls: EndpointUrls;
  readonly timings: StartupTimings;
}

export interface StartOptions<S extends { readonly config: Config }> {
  /** Reads the settings. Throws when the role cannot run with them, or with what they name. */
  readonly settings: (warn: (text: string) => void) => S;
  /** The role itself. Shutdown closes in reverse order what the steps open. */
  readonly steps: (started: Started, settings: S) => Promise<void>;
}

/** Starts one program, whether that has every role or one, and ends it when that fails. */
export const start = <S extends { readonly config: Config }>(name: string, options: StartOptions<S>): void => {
  run(name, options).catch((error: unknown) => {
    const program = name === 'standalone' ? 'sluice' : `sluice ${name}`;
    process.stderr.write(`${program} cannot start: ${startProblem(error)}\n`);
    process.exit(1);
  });
};

const run = async <S extends { readonly config: Config }>(
  name: string,
  { settings, steps }: StartOptions<S>,
): Promise<void> => {
  const timings = new StartupTimings();

  // 1. Settings, logger, shutdown.
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const read = settings(warn);
  const { config } = read;
  keepFilesPrivate(config.dataDir, warn);
  const heap = heapWarning(config.heapMb);
  if (heap !== undefined) warn(heap);
  const logger = createLogger({ level: config.logLevel, role: name });
  for (const text of warnings) logger.warn({}, text);
  const shutdown = new Shutdown(logger);

  // 2. The port, so that a port in use is detected before anything else starts.
  const front = await HttpListener.listen(config.host, config.port, (error) =>
    logger.error({ err: error }, 'request.broke'),
  );
  timings.end('listening');

  // 3. The role.
  const publicUrl = publicUrlOf(config, front.port);
  await steps(
    {
      id: newId('proc', systemClock.now()),
      name,
      config,
      logger,
      nestLogger: new NestLogger(logger),
      shutdown,
      front,
      metrics: new Metrics(),
      readiness: new Readiness(),
      publicUrl,
      urls: endpointUrls(config, publicUrl),
      timings,
    },
    read,
  );
};

/** Builds `https://<key>.<domain>` if a domain is set, else `<public url>/h/<key>`. */
export const endpointUrls = ({ endpointDomain }: Config, publicUrl: string): EndpointUrls =>
  endpointDomain === null ? pathEndpointUrls(() => publicUrl) : hostEndpointUrls(endpointDomain);

/** Services that differ between a process with every role and one of several. */
type Ways = Pick<RoleProcess, 'leased' | 'reportBacklog' | 'reportLag'> &
  Pick<TableFreshnessOptions, 'highestReached' | 'awaitedSince'>;

/** Creates the services of a process for its roles. */
export const roleProcess = (
  { config, logger, metrics, shutdown }: Started,
  plane: ControlPlane,
  topics: TopicPolicy,
  { leased, reportBacklog, reportLag, ...others }: Ways,
): RoleProcess & { readonly platformEvents: PlatformEvents } => {
  const { engines, follower, clock } = plane;
  const platformEvents = new PlatformEvents({ log: engines.log, topics, clock, logger });
  // At shutdown the events are stored before the engines close.
  shutdown.add('platform events', () => platformEvents.idle());
  return {
    config,
    plane,
    topics,
    logger,
    metrics,
    platformEvents,
    tables: new TableFreshness({
      ...others,
      follower,
      lastPosition: () => engines.events.lastPosition(),
      onDelayed: (error) => logger.warn({ err: error }, 'tables.delayed: events may wait for the event log'),
    }),
    handedOver: new HandedOver(pressureSettings(config).source),
    closing: (step, close) => shutdown.add(step, close),
    leased,
    reportBacklog,
    reportLag,
  };
};

/** Duration of each start step in milliseconds. The first step is loading the program. */
export class StartupTimings {
  readonly steps: Record<string, number> = {};
  private at = 0;
  private readonly loadedAt: number;

  constructor() {
    this.end('loading');
    this.loadedAt = this.at;
  }

  end(step: string): void {
    const now = performance.now();
    this.steps[step] = Math.round(now - this.at);
    this.at = now;
  }

  totalMs(): number {
    return Math.round(this.at);
  }

  /** Time since the program was loaded. */
  sinceLoadedMs(): number {
    return Math.round(performance.now() - this.loadedAt);
  }
}
