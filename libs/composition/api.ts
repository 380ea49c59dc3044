import { version } from '#libs/hosting/version.js';
import { type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { type ComponentInspector } from '#libs/components/index.js';
import { type Config } from '#libs/config/index.js';
import { type Egress } from '#libs/egress/guarded-dispatcher.js';
import { EventStreams } from '#libs/event-streams/index.js';
import { type AppliedRecords, type RunsUnderWay } from '#libs/events/index.js';
import { type HttpBytes } from '#libs/http/bytes-in-flight.js';
import { configureHttp, type HttpHalf } from '#libs/http/configure-http.js';
import { type PackageSource, type ComponentCaller } from '#libs/sandbox/index.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { type Backlog } from '#libs/ingress/local-backlog.js';
import { type Door } from '#libs/ingress/door.js';
import { type ResponseRelay } from '#libs/ingress/response-relay.js';
import { type DomainError } from '#libs/kernel/domain-error.js';
import { appEvents } from '#libs/ingress/app-events.js';
import { manualRuns } from '#libs/ingress/manual-runs.js';
import { workflowInvokes } from '#libs/ingress/workflow-invokes.js';
import { tickEvent } from '#libs/scheduling/tick-event.js';
import { type AppEvents, type EndpointUrls, type ManualRuns } from '#libs/sources/index.js';
import { type HookRunner, propsOf, type SourceTopics } from '#libs/sources/published.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type WebhookTopics } from '#libs/webhooks/index.js';
import { type RunSteering, type WorkflowInvokes } from '#libs/workflow-history/index.js';
import { type DefinitionReader } from '#libs/workflows/index.js';
import { ApiModule } from './api.module.js';
import { httpObserver, type Logger, type Metrics, type Readiness } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';
import { MAX_API_BODY_BYTES } from './pressure.js';

export interface ApiOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly topics: TopicPolicy;
  /** Decides when a command may be answered, and a query that carries a position. */
  readonly readYourWrites: ReadYourWrites;
  readonly hookRunner: HookRunner;
  readonly manualRuns: ManualRuns;
  readonly runSteering: RunSteering;
  readonly appEvents: AppEvents;
  readonly workflowInvokes: WorkflowInvokes;
  readonly sourceTopics: SourceTopics;
  readonly webhookTopics: WebhookTopics;
  readonly appliedEvents: AppliedRecords;
  /** Absent in a process that runs no sources. */
  readonly runsUnderWay?: RunsUnderWay;
  /** What waits for the roles. Absent where they are other processes. */
  readonly backlog?: Pick<Backlog, 'waitingFor' | 'unroutedOf'>;
  readonly inspector: ComponentInspector;
  readonly caller: ComponentCaller;
  readonly definitions: DefinitionReader;
  readonly packages: PackageSource;
  readonly egress: Pick<Egress, 'dispatcher'>;
  readonly urls: EndpointUrls;
  readonly publicUrl: string;
  /** Level of the jail, for a process that runs or inspects code. */
  readonly level?: { readonly name: string };
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly logger: LoggerService;
  readonly log: Logger;
  readonly shuttingDown: () => boolean;
  readonly noRoom?: () => DomainError | undefined;
  /** Bytes that requests of this process hold. */
  readonly bytes: HttpBytes;
  /** Half of the API that this process serves; the other half answers 421. */
  readonly serves: HttpHalf;
}

/** Creates manual runs, whose outcome arrives through `relay`. */
export const manualRunsOf = (
  { config, plane, topics }: Pick<ApiOptions, 'config' | 'plane' | 'topics'>,
  relay: ResponseRelay,
  door: Door,
): ManualRuns => {
  const { engines, clock, views } = plane;
  return manualRuns({
    log: engines.log,
    topics,
    relay,
    clock,
    door,
    timeoutMs: (config.runTimeoutS ?? 30) * 1_000 + 1_000,
    defaultEvent: (sourceId) => {
      const entry = views.sources.find(sourceId);
      const [timer] = entry === undefined ? [] : propsOf(entry.definition, 'timer');
      return timer ? tickEvent(timer, clock.now()) : '{}';
    },
  });
};

/** Invokes workflows, whose answers arrive through `relay`. */
export const workflowInvokesOf = (
  { plane, topics }: Pick<ApiOptions, 'plane' | 'topics'>,
  relay: ResponseRelay,
  door: Door,
): WorkflowInvokes => workflowInvokes({ log: plane.engines.log, clock: plane.clock, topics, relay, door });

/** Passes events of apps to the sources that accept them. */
export const appEventsOf = (
  { config, plane, topics, log }: Pick<ApiOptions, 'config' | 'plane' | 'topics' | 'log'>,
  door: Door,
): AppEvents => {
  const { engines, clock, views } = plane;
  return appEvents({
    log: engines.log,
    topics,
    clock,
    door,
    matching: (...event) => views.sources.appHooks.matching(...event),
    maxPayload: config.maxBodyKb * 1024,
    onFailure: (err) => log.error({ err }, 'app event was not stored for every source'),
  });
};

/** Creates the Nest application, which can serve requests but does not listen yet. */
export const createApi = async (options: ApiOptions): Promise<NestExpressApplication> => {
  const { config, logger, log, metrics, shuttingDown } = options;
  const app = await NestFactory.create<NestExpressApplication>(ApiModule.forRoot(options), {
    bodyParser: false,
    logger,
    abortOnError: false,
  });
  configureHttp(app, {
    maxBodyBytes: MAX_API_BODY_BYTES,
    corsOrigins: config.corsOrigins,
    shuttingDown,
    ...(options.noRoom === undefined ? {} : { noRoom: options.noRoom }),
    serves: options.serves,
    release: { version: version(), publicUrl: config.publicUrl ?? undefined },
    onFinished: httpObserver(log, metrics),
  });
  await app.init();
  const streams = app.get(EventStreams, { strict: false });
  metrics.sampled('sluice_streams_open', 'Open streams of events', () => streams.size);
  metrics.sampled(
    'sluice_streams_unsent_bytes',
    'Bytes that streams of events keep for readers that have not taken them',
    () => streams.unsentBytes,
  );
  return app;
};
