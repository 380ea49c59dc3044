import { type LoggerService, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { type AuditableResource, auditable, AUDITABLE_RESOURCES } from '#libs/audit/index.js';
import {
  CODE_LIMITS,
  COMPONENT_FETCHER,
  COMPONENT_INSPECTOR,
  type ComponentInspector,
  componentDecider,
  crawledFetcher,
  DEFAULT_CODE_LIMITS,
  INSPECTION_LIMITS,
} from '#libs/components/index.js';
import { type Config, maxApiBodyBytes } from '#libs/config/index.js';
import { type Egress } from '#libs/egress/guarded-dispatcher.js';
import { fetchText } from '#libs/egress/fetch-text.js';
import { APPLIED_EVENTS, type AppliedRecords, EMITTERS, EVENT_SETTINGS, storedEvents } from '#libs/events/index.js';
import { eventSettings } from './stream-projections.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { configureHttp, type HttpHalf } from '#libs/http/configure-http.js';
import { OPERATOR_ACCESS, OperatorAccess } from '#libs/http/operator-access.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { RESOURCE_LIMITS, type ResourceLimits } from '#libs/kernel/resource-limits.js';
import { type ResponseRelay } from '#libs/ingress/response-relay.js';
import { type DomainError } from '#libs/kernel/domain-error.js';
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
  type ManualRuns,
  SOURCE_TOPICS,
  sourceDecider,
} from '#libs/sources/index.js';
import { type HookRunner, type SourceTopics } from '#libs/sources/published.js';
import { type UnreadLimits } from '#libs/stream-log/unread-limits.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { RESOURCES, subscription } from '#libs/subscriptions/index.js';
import { apiKey, CallersView, user, workspace } from '#libs/tenancy/index.js';
import { CALLERS } from '#libs/http/callers.js';
import { USAGE } from '#libs/tenancy/published.js';
import { RETAINED_EVENTS, webhook, WEBHOOK_TOPICS, type WebhookTopics } from '#libs/webhooks/index.js';
import { ApiModule } from './api.module.js';
import { httpObserver, type Logger, METRICS, type Metrics, READINESS, type Readiness } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';

export interface ApiOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly topics: TopicPolicy;
  /** Decides when a command may be answered, and a query that carries a position. */
  readonly readYourWrites: ReadYourWrites;
  readonly hookRunner: HookRunner;
  readonly manualRuns: ManualRuns;
  readonly sourceTopics: SourceTopics;
  readonly webhookTopics: WebhookTopics;
  readonly appliedEvents: AppliedRecords;
  readonly inspector: ComponentInspector;
  readonly egress: Pick<Egress, 'dispatcher'>;
  readonly urls: EndpointUrls;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly logger: LoggerService;
  readonly log: Logger;
  readonly shuttingDown: () => boolean;
  readonly noRoom?: () => DomainError | undefined;
  /** Half of the API that this process serves; the other half answers 421. */
  readonly serves: HttpHalf;
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

const providersOf = (options: ApiOptions): Provider[] => {
  const { config, plane, egress } = options;
  const { engines, clock, views } = plane;
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
    given(READ_YOUR_WRITES, options.readYourWrites),
    given(TOPIC_POLICY, options.topics),
    { provide: CallersView, useValue: views.callers },
    given(CALLERS, views.callers),
    given(USAGE, plane.usage),
    given(RESOURCES, views.resources),
    given(EMITTERS, views.sources),
    given(AUDITABLE_RESOURCES, auditableResources),
    given(COMPONENT_INSPECTOR, options.inspector),
    given(RESOURCE_LIMITS, {
      sourcesPerWorkspace: config.maxSources,
      webhooksPerWorkspace: config.maxWebhooks,
      subscriptionsPerWorkspace: config.maxSubscriptions,
      apiKeysPerUser: config.maxApiKeys,
      codeBytesPerWorkspace: config.workspaceCodeMb * 1024 * 1024,
    } satisfies ResourceLimits),
    given(CODE_LIMITS, { ...DEFAULT_CODE_LIMITS, fileBytes: config.codeMaxKb * 1024 }),
    given(INSPECTION_LIMITS, {
      atOnce: config.buildsAtOnce,
      waiting: config.buildsWaiting,
      waitingInAll: config.buildsWaitingInAll,
    }),
    given(
      COMPONENT_FETCHER,
      crawledFetcher((url) => fetchText(url, { dispatcher: egress.dispatcher })),
    ),
    given(HOOK_RUNNER, options.hookRunner),
    given(SOURCE_TOPICS, options.sourceTopics),
    given(WEBHOOK_TOPICS, options.webhookTopics),
    given(RETAINED_EVENTS, storedEvents(engines.readModels)),
    given(ENDPOINT_URLS, options.urls),
    given(METRICS, options.metrics),
    given(READINESS, options.readiness),
    given(OPERATOR_ACCESS, new OperatorAccess(config.metrics, new TrustedProxies(config.trustedProxies))),
    given(APPLIED_EVENTS, options.appliedEvents),
    given(EVENT_SETTINGS, eventSettings(config)),
    given(MANUAL_RUNS, options.manualRuns),
  ];
};

/** Creates manual runs, whose outcome comes back through `relay`. */
export const manualRunsOf = (
  { config, plane, topics }: Pick<ApiOptions, 'config' | 'plane' | 'topics'>,
  relay: ResponseRelay,
  unread?: UnreadLimits,
): ManualRuns => {
  const { engines, clock, views } = plane;
  return manualRuns({
    log: engines.log,
    topics,
    relay,
    clock,
    ...(unread === undefined ? {} : { unread }),
    timeoutMs: (config.runTimeoutS ?? 30) * 1_000 + 1_000,
    defaultEvent: (sourceId) => {
      const timer = views.sources.find(sourceId)?.definition.timers[0];
      return timer ? tickEvent(timer, clock.now()) : '{}';
    },
  });
};

/** Creates the Nest application. It can serve requests but does not listen by itself. */
export const createApi = async (options: ApiOptions): Promise<NestExpressApplication> => {
  const { config, logger, log, metrics, shuttingDown } = options;
  const module = ApiModule.register(providersOf(options), {
    requestsPerMinute: config.apiRate,
    proxies: new TrustedProxies(config.trustedProxies),
    burst: config.apiBurst,
    // The change is made, so a lagging process must not turn the answer into an error.
    answersUnapplied: config.engine === 'distributed',
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
    ...(options.noRoom === undefined ? {} : { noRoom: options.noRoom }),
    serves: options.serves,
    onFinished: httpObserver(log, metrics),
  });
  await app.init();
  return app;
};
