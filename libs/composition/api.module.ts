import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { type ActionRunner } from '#libs/actions/published.js';
import {
  crawledFetcher,
  DEFAULT_CODE_LIMITS,
  DEFAULT_INSPECTION_LIMITS,
  type FetchText,
  toolActions,
} from '#libs/components/index.js';
import { CHANGES, ChangeSource, tailChanges } from '#libs/audit/index.js';
import { AddressPolicy } from '#libs/egress/address-policy.js';
import { fetchText } from '#libs/egress/fetch-text.js';
import { EventStreams, unsentLimits } from '#libs/event-streams/index.js';
import { waitingDeliveries } from '#libs/delivery/waiting-deliveries.js';
import { sourceCounts, storedEvents } from '#libs/events/index.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { HttpModule } from '#libs/http/http.module.js';
import { OperatorAccess } from '#libs/http/operator-access.js';
import { actionRuns } from '#libs/runner/action-runs.js';
import { unsignedHeaders } from '#libs/delivery/signing.js';
import { testAttempts } from '#libs/delivery/test-attempts.js';
import { installPackages } from '#libs/runner/packages-beside.js';
import { type AccountAuths } from '#libs/runner/runner-ports.js';
import { propBinder } from '#libs/runner/prop-binder.js';
import { workflowTopics } from '#libs/runner/workflow/workflow-topics.js';
import { nextTick } from '#libs/scheduling/next-tick.js';
import { boundValue } from '#libs/sources/index.js';
import { emissionFaults, type Replays, subscriptionsTo } from '#libs/subscriptions/index.js';
import { streamObserver, TelemetryModule } from '#libs/telemetry/index.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { AttemptSource, type DeliveryReach, webhookDirectory } from '#libs/webhooks/index.js';
import { version } from '#libs/hosting/version.js';
import { runnableWorkflows, workflowChanges } from '#libs/workflows/index.js';
import { authsOf } from './account-auths.js';
import { type ApiOptions } from './api.js';
import { componentCalls } from './component-calls.js';
import { componentUsers } from './component-users.js';
import { auditable, auditedCategories, type ModulePorts, modulesOf, resourceLimits } from './contexts.js';
import { type ControlPlane } from './control-plane.js';
import { type Engines } from './engines.js';
import { overviewPorts } from './overview.js';
import { quotaKeeper, startingRuns } from './quotas.js';
import { eventSettings } from './read-models.js';
import { serverFacts } from './server-facts.js';
import { sourceDbs } from './source-dbs.js';
import { serverLimits } from './server-limits.js';

/** The API: routes and handlers of every context, behind the HTTP edge. */
@Module({})
export class ApiModule {
  static forRoot(options: ApiOptions): DynamicModule {
    return { module: ApiModule, imports: [CqrsModule.forRoot(), ...edge(options), ...modulesOf(portsOf(options))] };
  }
}

const edge = (options: ApiOptions): DynamicModule[] => {
  const { config, plane, readYourWrites, metrics, readiness, bytes, publicUrl, level } = options;
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
      server: serverFacts(config, publicUrl, level?.name ?? null),
    }),
  ];
};

/** The ports of all contexts. */
const portsOf = (options: ApiOptions): ModulePorts => {
  const { config, plane, egress, urls } = options;
  const { engines, views, clock, handleCommand, upcasters, usage } = plane;
  const { blobs } = engines;
  const auths = authsOf(options);
  const { manualRuns, appEvents, workflowInvokes } = options;
  const runs = { manualRuns, appEvents, workflowInvokes, actions: actionRunner(options, auths) };
  const keeper = quotaKeeper(config, plane, options.log);
  const starting = startingRuns(keeper, runs);
  const streams = streamPorts(options);
  return {
    ...engines,
    ...streams,
    ...overviewPorts(options, streams.waitingDeliveries, keeper),
    handleCommand,
    clock,
    upcasters,
    auditable,
    resourceLimits: limitsOf(config),
    callers: views.callers,
    usage,
    dailyCredits: config.dailyCredits,
    limits: serverLimits(config),
    inspector: options.inspector,
    calls: componentCalls(options.caller, blobs, auths, installPackages(blobs, options.packages)),
    fetcher: crawledFetcher(fileFetcher(egress, DEFAULT_CODE_LIMITS.fileBytes)),
    componentUsers: componentUsers(views, blobs),
    inspectionLimits: { ...DEFAULT_INSPECTION_LIMITS, atOnce: config.buildsAtOnce },
    readYourWrites: options.readYourWrites,
    hookRunner: options.hookRunner,
    sourceTopics: options.sourceTopics,
    endpointUrls: urls,
    manualRuns: starting.manualRuns,
    ownerChanges: workflowChanges(engines.events),
    appEvents: starting.appEvents,
    sourceDbs: sourceDbs(plane, config),
    workflowInvokes: starting.workflowInvokes,
    runner: starting.actions,
    accounts: views.accounts,
    variables: views.variables,
    allowedEnv: config.accountEnv,
    resources: views.resources,
    replays: replaysOf(engines),
    sources: views.sources,
    sourceStates: views.sources,
    sourceCounts: sourceCounts(engines.readModels),
    sendsEmail: config.smtpUrl !== null,
    definitionReader: options.definitions,
    timerSchedules: { next: (timer, since, after) => nextTick({ kind: 'timer', prop: '', ...timer }, since, after) },
    triggerReferences: triggerReferences(views),
    runnableWorkflows: runnableWorkflows(views.workflows, blobs),
    workflowVersions: views.workflows,
    runSteering: options.runSteering,
    bulkReplays: views.bulkReplays,
    workflowSubscriptions: { of: (workflowId) => subscriptionsTo(engines.readModels, workflowId) },
    ...toolPorts(options),
    workflowStats: { of: (...asked) => engines.runHistory.stats(...asked) },
    workflowTopics: workflowTopics({ ...engines, topics: options.topics }),
  };
};

const limitsOf = (config: ApiOptions['config']) => ({
  ...resourceLimits,
  sourcesPerWorkspace: config.maxSources,
  webhooksPerWorkspace: config.maxWebhooks,
  subscriptionsPerWorkspace: config.maxSubscriptions,
  workflowsPerWorkspace: config.maxWorkflows,
  workflowMemoryMb: config.workflowMemoryMb,
});

const toolPorts = ({ config, plane: { engines, views } }: ApiOptions) => ({
  workflowTools: views.workflows,
  actionTools: views.actionTools,
  toolActions: toolActions(engines.readModels),
  toolAccounts: views.accounts,
  mcp: {
    version: version(),
    waitMs: config.mcpWaitS * 1_000,
    publicUrl: config.publicUrl,
    origins: config.corsOrigins,
  },
});

const triggerReferences = ({ resources, variables }: ControlPlane['views']): ModulePorts['triggerReferences'] => ({
  isSource: (id, workspaceId) => id.startsWith('dc_') && resources.find(id)?.workspaceId === workspaceId,
  isVariable: (name, workspaceId) => variables.has(workspaceId, name),
  emissionFaults: (...emission) => emissionFaults(resources, ...emission),
});

/** Reads the dispatcher at each fetch, because a process that serves only reads has none. */
const fileFetcher =
  (egress: ApiOptions['egress'], maxBytes: number): FetchText =>
  (url, signal) =>
    fetchText(url, { dispatcher: egress.dispatcher, maxBytes, ...(signal === undefined ? {} : { signal }) });

const replaysOf = ({ readModels, due }: Engines): Replays => ({
  keptIn: async (...range) => {
    const ids = await storedEvents(readModels).idsIn(...range);
    return { count: ids.length, oldest: ids[0]?.eventId, newest: ids.at(-1)?.eventId };
  },
  waiting: async (subscriptionId) => (await due.countsOf([subscriptionId]))[0] ?? 0,
});

/** Ports of the contexts that list and pass on the events of sources. */
const streamPorts = (options: ApiOptions) => {
  const { config, plane, topics, webhookTopics, appliedEvents, runsUnderWay } = options;
  const { log: logger, metrics, shuttingDown } = options;
  const { engines, views } = plane;
  return {
    topics,
    webhookTopics,
    appliedEvents,
    runsUnderWay,
    retainedEvents: storedEvents(engines.readModels),
    waitingDeliveries: waitingDeliveries(engines.log, engines.due, topics),
    reach: deliveryReach(config.egressAllow),
    deliveryRequests: { headersOf: unsignedHeaders },
    testAttempts: testAttempts({
      directory: webhookDirectory(views.webhooks, engines.vault, { timeoutMs: config.webhookTimeoutS * 1_000 }),
      egress: options.egress,
      clock: plane.clock,
    }),
    emitters: {
      find: (emitterId: string) => views.resources.find(emitterId),
      idOfSlug: (workspaceId: string, slug: string) => views.sources.idOfSlug(workspaceId, slug),
      idOfExternal: (externalId: string, workspaceId: string) => views.workflows.idOfExternal(externalId, workspaceId),
    },
    settings: eventSettings(config),
    otherStreams: [
      new AttemptSource(engines.log, topics, engines.readModels),
      new ChangeSource(engines.events, engines.readModels, options.readYourWrites),
    ],
    eventStreams: new EventStreams(tailsOf(engines), {
      settings: { perUser: config.streamsPerUser, unsent: unsentLimits() },
      mayRead: (apiKeyId: string, workspaceId: string) => views.callers.mayRead(apiKeyId, workspaceId),
      isPublic: (workflowId: string) => views.workflows.find(workflowId)?.settings.publicSse === true,
      exists: (id: string) => id.startsWith('o_') || views.resources.find(id) !== undefined,
      shuttingDown,
      onEnded: streamObserver(logger, metrics),
    }),
  };
};

/** Live records of the stream log, and the changes of resources among them. */
const tailsOf = ({ log, events }: Engines): Pick<StreamLog, 'tail'> => ({
  tail: (topics, onRecords) =>
    'prefix' in topics && topics.prefix === CHANGES
      ? tailChanges(events, auditedCategories, onRecords)
      : log.tail(topics, onRecords),
});

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
