import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { account, AccountsModule } from '#libs/accounts/index.js';
import { ActionsModule } from '#libs/actions/index.js';
import { type ActionRunner } from '#libs/actions/published.js';
import { auditable, AuditModule } from '#libs/audit/index.js';
import {
  componentDecider,
  ComponentsModule,
  crawledFetcher,
  DEFAULT_CODE_LIMITS,
  DEFAULT_INSPECTION_LIMITS,
  type FetchText,
} from '#libs/components/index.js';
import { type Config } from '#libs/config/index.js';
import { dataStore, DataStoresModule } from '#libs/data-stores/index.js';
import { AddressPolicy } from '#libs/egress/address-policy.js';
import { fetchText } from '#libs/egress/fetch-text.js';
import { EventsModule, storedEvents, unsentLimits } from '#libs/events/index.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { HttpModule } from '#libs/http/http.module.js';
import { OperatorAccess } from '#libs/http/operator-access.js';
import { DEFAULT_RESOURCE_LIMITS, type ResourceLimits } from '#libs/kernel/resource-limits.js';
import { NotificationsModule } from '#libs/notifications/index.js';
import { actionRuns } from '#libs/runner/action-runs.js';
import { installPackages } from '#libs/runner/packages-beside.js';
import { type AccountAuths } from '#libs/runner/runner-ports.js';
import { propBinder } from '#libs/runner/prop-binder.js';
import { boundValue, sourceDecider, SourcesModule } from '#libs/sources/index.js';
import { autoSubscription, type Replays, subscription, SubscriptionsModule } from '#libs/subscriptions/index.js';
import { streamObserver, TelemetryModule } from '#libs/telemetry/index.js';
import { apiKey, TenancyModule, user, workspace } from '#libs/tenancy/index.js';
import { type DeliveryReach, webhook, WebhooksModule } from '#libs/webhooks/index.js';
import { authsOf } from './account-auths.js';
import { type ApiOptions } from './api.js';
import { componentCalls } from './component-calls.js';
import { type Engines } from './engines.js';
import { quotaKeeper, startingRuns } from './quotas.js';
import { serverLimits } from './server-limits.js';
import { eventSettings } from './stream-projections.js';

/** Kinds of resources whose history `GET /v1/audit/{id}` shows. */
const auditableResources = [
  auditable('u', user),
  auditable('o', workspace),
  auditable('key', apiKey),
  auditable('sc', componentDecider),
  auditable('dc', sourceDecider),
  auditable('sub', subscription),
  auditable('asub', autoSubscription),
  auditable('wh', webhook),
  auditable('ds', dataStore),
  auditable('apn', account),
];

/** The API: routes and handlers of every context, behind the HTTP edge. */
@Module({})
export class ApiModule {
  static forRoot(options: ApiOptions): DynamicModule {
    return { module: ApiModule, imports: [CqrsModule.forRoot(), ...edge(options), ...contexts(options)] };
  }
}

const edge = ({ config, plane, readYourWrites, metrics, readiness, bytes }: ApiOptions): DynamicModule[] => {
  const proxies = new TrustedProxies(config.trustedProxies);
  const http = HttpModule.forRoot({
    callers: plane.views.callers,
    readYourWrites,
    clock: plane.clock,
    idempotency: plane.engines.records,
    bytes,
    faultOf: plane.engines.faultOf,
    requestsPerMinute: config.apiRate,
    proxies,
    // The change is made, so a lagging process must not turn the answer into an error.
    answersUnapplied: config.engine === 'distributed',
  });
  return [
    http,
    TelemetryModule.forRoot({
      metrics,
      readiness,
      access: new OperatorAccess(config.metrics, proxies, config.publicUrl),
    }),
  ];
};

const contexts = (options: ApiOptions): DynamicModule[] => {
  const { config, plane, egress, readYourWrites, hookRunner, sourceTopics, inspector } = options;
  const { engines, views, clock, handleCommand, upcasters, usage } = plane;
  const { events, readModels, vault, blobs } = engines;
  const resourceLimits = resourceLimitsOf(config);
  const auths = authsOf(options);
  const common = { handleCommand, readModels, clock, resourceLimits };
  const { manualRuns, appEvents } = options;
  const actions = actionRunner(options, auths);
  const starting = startingRuns(quotaKeeper(config, plane, options.log), { manualRuns, appEvents, actions });
  return [
    TenancyModule.forRoot({
      ...common,
      callers: views.callers,
      usage,
      dailyCredits: config.dailyCredits,
      limits: serverLimits(config),
    }),
    ComponentsModule.forRoot({
      ...common,
      events,
      upcasters,
      blobs,
      inspector,
      calls: componentCalls(options.caller, blobs, auths, installPackages(blobs, options.packages)),
      vault,
      fetcher: crawledFetcher(fileFetcher(egress, DEFAULT_CODE_LIMITS.fileBytes)),
      inspectionLimits: { ...DEFAULT_INSPECTION_LIMITS, atOnce: config.buildsAtOnce },
    }),
    DataStoresModule.forRoot({ ...common, events, upcasters, records: engines.records }),
    SourcesModule.forRoot({
      ...common,
      events,
      upcasters,
      readYourWrites,
      vault,
      hookRunner,
      sourceTopics,
      endpointUrls: options.urls,
      manualRuns: starting.manualRuns,
      appEvents: starting.appEvents,
      accounts: views.accounts,
    }),
    AccountsModule.forRoot({ ...common, vault, allowedEnv: config.accountEnv }),
    ActionsModule.forRoot({ clock, runner: starting.actions }),
    SubscriptionsModule.forRoot({ ...common, resources: views.resources, replays: replaysOf(engines) }),
    NotificationsModule.forRoot({ ...common, sources: views.sources, sendsEmail: config.smtpUrl !== null }),
    ...eventContexts(options),
    AuditModule.forRoot({ events, readModels, upcasters, auditable: auditableResources }),
  ];
};

/** Asks for the dispatcher at each fetch, because a process that answers reads only has none. */
const fileFetcher =
  (egress: ApiOptions['egress'], maxBytes: number): FetchText =>
  (url, signal) =>
    fetchText(url, { dispatcher: egress.dispatcher, maxBytes, ...(signal === undefined ? {} : { signal }) });

const replaysOf = ({ readModels, schedule }: Engines): Replays => ({
  keptIn: async (...range) => {
    const ids = await storedEvents(readModels).idsIn(...range);
    return { count: ids.length, oldest: ids[0]?.eventId, newest: ids.at(-1)?.eventId };
  },
  waiting: (subscriptionId) => schedule.countOf(subscriptionId),
});

/** Contexts that show what sources emit, and send it on. */
const eventContexts = (options: ApiOptions): DynamicModule[] => {
  const { config, plane, topics, webhookTopics, appliedEvents, log: logger, metrics, shuttingDown } = options;
  const { engines, views, clock, handleCommand } = plane;
  const { readModels, vault, log, delayed } = engines;
  return [
    WebhooksModule.forRoot({
      handleCommand,
      readModels,
      clock,
      resourceLimits: resourceLimitsOf(config),
      vault,
      log,
      topics,
      webhookTopics,
      retainedEvents: storedEvents(readModels),
      reach: deliveryReach(config.egressAllow),
    }),
    EventsModule.forRoot({
      readModels,
      clock,
      log,
      delayed,
      topics,
      emitters: views.sources,
      appliedEvents,
      settings: eventSettings(config),
      streams: {
        settings: { perUser: config.streamsPerUser, unsent: unsentLimits() },
        mayRead: (apiKeyId, workspaceId) => views.callers.mayRead(apiKeyId, workspaceId),
        exists: (emitterId) => views.sources.find(emitterId) !== undefined,
        shuttingDown,
        onEnded: streamObserver(logger, metrics),
      },
    }),
  ];
};

const actionRunner = ({ config, plane, caller, packages, urls, log }: ApiOptions, auths: AccountAuths): ActionRunner =>
  actionRuns({
    binder: propBinder(plane.engines.vault, (key) => urls.urlOf(key), boundValue, auths),
    blobs: plane.engines.blobs,
    packages: installPackages(plane.engines.blobs, packages),
    caller,
    clock: plane.clock,
    logger: log,
    usage: plane.usage,
    timeoutMs: (config.runTimeoutS ?? 30) * 1_000,
  });

/** Addresses of this machine are left out, because a webhook worker may run on another one. */
const deliveryReach = (allow: readonly string[]): DeliveryReach => {
  const policy = new AddressPolicy(allow, { ownAddresses: () => [] });
  return { refusalOf: (host) => policy.refusalOfHost(host)?.message };
};

const resourceLimitsOf = (config: Config): ResourceLimits => ({
  ...DEFAULT_RESOURCE_LIMITS,
  sourcesPerWorkspace: config.maxSources,
  webhooksPerWorkspace: config.maxWebhooks,
  subscriptionsPerWorkspace: config.maxSubscriptions,
});
