import { type LoggerService, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { type AuditableResource, auditable, AUDITABLE_RESOURCES } from '#libs/audit/index.js';
import {
  CODE_LIMITS,
  COMPONENT_FETCHER,
  COMPONENT_INSPECTOR,
  componentDecider,
  crawledFetcher,
  DEFAULT_CODE_LIMITS,
} from '#libs/components/index.js';
import { type Config, maxApiBodyBytes } from '#libs/config/index.js';
import { fetchText } from '#libs/egress/fetch-text.js';
import { APPLIED_EVENTS, EMITTERS, EVENT_SETTINGS, storedEvents } from '#libs/events/index.js';
import { configureHttp } from '#libs/http/configure-http.js';
import { type ReactorRunner } from '#libs/kernel/reactor.js';
import { manualRuns } from '#libs/ingress/manual-runs.js';
import {
  BLOBS,
  CLOCK,
  EVENT_STORE,
  HANDLE_COMMAND,
  READ_MODELS,
  READ_YOUR_WRITES,
  UPCASTERS,
  VAULT,
} from '#libs/kernel/tokens.js';
import { tickEvent } from '#libs/scheduling/tick-event.js';
import {
  ENDPOINT_URLS,
  type EndpointUrls,
  HOOK_RUNNER,
  MANUAL_RUNS,
  SOURCE_TOPICS,
  sourceDecider,
} from '#libs/sources/index.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { RESOURCES, subscription } from '#libs/subscriptions/index.js';
import { apiKey, CallersView, user, workspace } from '#libs/tenancy/index.js';
import { CALLERS, USAGE } from '#libs/tenancy/published.js';
import { RETAINED_EVENTS, webhook, WEBHOOK_TOPICS } from '#libs/webhooks/index.js';
import { ApiModule } from './api.module.js';
import { httpObserver, type Logger, METRICS, type Metrics, READINESS, type Readiness } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';
import { type DataPlane } from './data-plane.js';
import { readYourWritesAndReactions } from './read-your-writes.js';
import { type Sandboxing } from './sandboxing.js';

export interface ApiOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly dataPlane: DataPlane;
  readonly sandboxing: Sandboxing;
  readonly reactors: readonly ReactorRunner[];
  readonly urls: EndpointUrls;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly logger: LoggerService;
  readonly log: Logger;
  readonly shuttingDown: () => boolean;
}

/** Kinds of resources whose history `GET /v1/audit/{id}` shows. */
const auditableResources: readonly AuditableResource[] = [
  auditable('u', user),
  auditable('o', workspace),
  auditable('key', apiKey),
  auditable('sc', componentDecider),
  auditable('dc', sourceDecider),
  auditable('sub', subscription),
  auditable('wh', webhook),
];

const providersOf = ({
  config,
  plane,
  dataPlane,
  sandboxing,
  reactors,
  urls,
  metrics,
  readiness,
}: ApiOptions): Provider[] => {
  const { engines, clock, views } = plane;
  const { topics, relay, runner, summaries } = dataPlane;
  const timeoutMs = (config.runTimeoutS ?? 30) * 1_000 + 1_000;
  const given = (provide: symbol, useValue: unknown): Provider => ({ provide, useValue });
  return [
    given(CLOCK, clock),
    given(EVENT_STORE, engines.events),
    given(READ_MODELS, engines.readModels),
    given(VAULT, engines.vault),
    given(BLOBS, engines.blobs),
    given(STREAM_LOG, engines.log),
    given(UPCASTERS, plane.upcasters),
    given(HANDLE_COMMAND, plane.handleCommand),
    given(READ_YOUR_WRITES, readYourWritesAndReactions(plane.projectors, engines.events, reactors)),
    given(TOPIC_POLICY, topics),
    { provide: CallersView, useValue: views.callers },
    given(CALLERS, views.callers),
    given(USAGE, plane.usage),
    given(RESOURCES, views.resources),
    given(EMITTERS, views.sources),
    given(AUDITABLE_RESOURCES, auditableResources),
    given(COMPONENT_INSPECTOR, sandboxing.inspector),
    given(CODE_LIMITS, { ...DEFAULT_CODE_LIMITS, fileBytes: config.codeMaxKb * 1024 }),
    given(
      COMPONENT_FETCHER,
      crawledFetcher((url) => fetchText(url, { dispatcher: sandboxing.egress.dispatcher })),
    ),
    given(HOOK_RUNNER, runner),
    given(SOURCE_TOPICS, dataPlane.sourceTopics),
    given(WEBHOOK_TOPICS, dataPlane.webhookTopics),
    given(RETAINED_EVENTS, storedEvents(engines.readModels)),
    given(ENDPOINT_URLS, urls),
    given(METRICS, metrics),
    given(READINESS, readiness),
    given(APPLIED_EVENTS, summaries),
    given(EVENT_SETTINGS, { retained: config.eventsKept }),
    given(
      MANUAL_RUNS,
      manualRuns({
        ...{ log: engines.log, topics, relay, clock, timeoutMs },
        defaultEvent: (sourceId) => {
          const timer = views.sources.find(sourceId)?.definition.timers[0];
          return timer ? tickEvent(timer, clock.now()) : '{}';
        },
      }),
    ),
  ];
};

/** Nest's application, ready to be handed requests; it does not listen by itself. */
export const createApi = async (options: ApiOptions): Promise<NestExpressApplication> => {
  const { config, logger, log, metrics, shuttingDown } = options;
  const module = ApiModule.register(providersOf(options), {
    requestsPerMinute: config.apiRate,
    burst: config.apiBurst,
  });
  const app = await NestFactory.create<NestExpressApplication>(module, {
    bodyParser: false,
    logger,
    abortOnError: false,
  });
  configureHttp(app, {
    maxBodyBytes: maxApiBodyBytes(config),
    corsOrigins: config.corsOrigins,
    shuttingDown,
    onFinished: httpObserver(log, metrics),
  });
  await app.init();
  return app;
};
