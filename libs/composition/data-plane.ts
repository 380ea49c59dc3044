import { type Config } from '#libs/config/index.js';
import { type WebhookWorker } from '#libs/delivery/webhook-worker.js';
import { type Admission, allOf, refusing } from '#libs/ingress/admission.js';
import { type PressureGate } from '#libs/ingress/pressure-gate.js';
import { ResponseRelay } from '#libs/ingress/response-relay.js';
import { type Router, startRouter } from '#libs/routing/router.js';
import { type Runner } from '#libs/runner/runner.js';
import { sourceTopics } from '#libs/runner/source-topics.js';
import { type Scheduler, startScheduler } from '#libs/scheduling/scheduler.js';
import { type EndpointUrls } from '#libs/sources/index.js';
import { type SourceTopics } from '#libs/sources/published.js';
import { countedLog } from '#libs/stream-log/counted-log.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';
import { type StreamProjector } from '#libs/stream-log/stream-projector.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { UnreadLimits } from '#libs/stream-log/unread-limits.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { type WebhookTopics } from '#libs/webhooks/index.js';
import { type ControlPlane } from './control-plane.js';
import { startDeliveries } from './deliveries.js';
import { type DiskWatch } from './disk-watch.js';
import { pressureGate, pressureSettings, underWayHere } from './pressure.js';
import { openHostDeaths, startRuns } from './runs.js';
import { type Sandboxing } from './sandboxing.js';
import { streamProjections, streamProjector } from './stream-projections.js';
import { createFixedTopics, topicPolicy, webhookTopics } from './topic-policy.js';

export interface DataPlane {
  readonly topics: TopicPolicy;
  readonly relay: ResponseRelay;
  readonly gate: PressureGate;
  readonly unread: UnreadLimits;
  /** Admission of events: room on the disk and in the lanes, then the pressure gate. */
  readonly admission: Admission;
  readonly runner: Runner;
  readonly router: Router;
  readonly worker: WebhookWorker;
  readonly scheduler: Scheduler;
  readonly summaries: StreamProjector;
  readonly attempts: StreamProjector;
  readonly sourceTopics: SourceTopics;
  readonly webhookTopics: WebhookTopics;
  close(): Promise<void>;
}

export interface DataPlaneOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly sandboxing: Sandboxing;
  readonly urls: EndpointUrls;
  /** Bytes that wait for the disk. */
  readonly queuedBytes: () => number;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly onFailure: (error: Error) => void;
  readonly disk: DiskWatch;
}

/** Starts every role that moves events, in one process. Parts that take work start last, when all others are ready. */
export const startDataPlane = async (options: DataPlaneOptions): Promise<DataPlane> => {
  const { config, plane, sandboxing, metrics, logger, disk } = options;
  const { engines, clock } = plane;
  const { log } = engines;
  const topics = topicPolicy(config);
  await createFixedTopics(log, topics);

  const { summaries, attempts } = await startReadModels(config, engines, options.onFailure);

  // The path of an event, from its end to its start.
  const unread = unreadLimits(config, plane, topics);
  const relay = new ResponseRelay();
  const common = { config, plane, topics, metrics, logger };
  const worker = await startDeliveries({ ...common, egress: sandboxing.egress, pump: 'here' });
  const way = await startRouterAndRunner(options, topics, worker, relay, unread);
  const { router, runner, hostDeaths, underWay, limits } = way;
  const scheduler = await startTimers(plane, topics, config, logger);
  const gate = pressureGate(underWay, limits, () => clock.now());
  const room = refusing(({ sourceId, workspaceId }) => disk.refusal() ?? unread.refusal(sourceId, workspaceId));

  const forget = async (sourceId: string): Promise<void> => {
    await runner.forget(sourceId);
    await sandboxing.sockets.drop(sourceId);
  };
  const { journal, ticks } = engines;
  return {
    topics,
    relay,
    gate,
    unread,
    runner,
    router,
    worker,
    scheduler,
    summaries,
    attempts,
    admission: allOf(room, gate),
    sourceTopics: sourceTopics({ log, topics, journal, ticks, forget }),
    webhookTopics: webhookTopics(log, topics, engines.schedule),
    async close() {
      // First, because a process killed for closing too slowly is not a death of the host.
      hostDeaths.close();
      gate.close();
      await scheduler.close();
      await runner.close();
      await router.close();
      await worker.close();
      await Promise.all([summaries.stop(), attempts.stop()]);
    },
  };
};

/** Starts the read models over the stream log. */
const startReadModels = async (
  config: Config,
  engines: ControlPlane['engines'],
  onFailure: (error: Error) => void,
): Promise<Pick<DataPlane, 'summaries' | 'attempts'>> => {
  const projections = streamProjections(config);
  const summaries = streamProjector(engines, projections.summaries, onFailure);
  const attempts = streamProjector(engines, projections.attempts, onFailure);
  await Promise.all([summaries.start(), attempts.start()]);
  return { summaries, attempts };
};

/**
 * Starts both, each with back-pressure on the other: the router on the runner's backlog, the runner on unrouted emits.
 */
const startRouterAndRunner = async (
  { config, plane, sandboxing, urls, metrics, logger, disk, queuedBytes }: DataPlaneOptions,
  topics: TopicPolicy,
  worker: WebhookWorker,
  relay: ResponseRelay,
  unread: UnreadLimits,
) => {
  const { log } = plane.engines;
  const limits = pressureSettings(config);
  const handedOver = new HandedOver(limits.source);
  const counted = countedLog(log, handedOver);
  const later: { runner?: Runner } = {};
  const waitingFor = (sourceId: string): number => later.runner?.waitingFor(sourceId) ?? 0;
  const router = await startRouter({
    log: counted,
    topics,
    table: plane.views.subscriptions,
    clock: plane.clock,
    logger,
    listeners: { waitingFor, limit: limits.listener, loopLimit: limits.unrouted },
    isFull: (topic) => disk.isFull() || unread.isFull(topic),
  });
  const unroutedOf = (sourceId: string): number => router.unroutedOf(sourceId);
  const hostDeaths = openHostDeaths(config, logger);
  const runner = await startRuns({
    config,
    plane,
    topics,
    metrics,
    logger,
    log: counted,
    sandboxing,
    urls,
    replies: relay,
    hostDeaths,
    isPaused: (id) => disk.isFull() || unread.isPaused(id) || unroutedOf(id) >= limits.unrouted,
  });
  later.runner = runner;
  unread.count({
    invocations: (lane) => runner.unreadBytesOf(lane),
    emits: (lane) => router.unreadBytesOf(lane),
    deliveries: (lane) => worker.unreadBytesOf(lane),
    waiting: (webhookId) => plane.engines.schedule.bytesOf(webhookId),
  });
  const underWay = underWayHere({ handedOver, waitingFor, unroutedOf, worker, queuedBytes });
  return { router, runner, hostDeaths, underWay, limits };
};

const MB = 1024 * 1024;

const unreadLimits = (config: Config, { views, clock }: ControlPlane, topics: TopicPolicy): UnreadLimits =>
  new UnreadLimits({
    topics,
    settings: {
      laneBytes: config.sourceUnreadMb * MB,
      emitsBytes: config.emitsRetentionMb * MB,
      workspaceBytes: config.workspaceUnreadMb * MB,
    },
    sources: () => views.sources.states(),
    now: () => clock.now(),
  });

export const startTimers = (
  { engines, views, clock }: ControlPlane,
  topics: TopicPolicy,
  config: Config,
  logger: Logger,
): Promise<Scheduler> =>
  startScheduler({
    sources: views.sources,
    ticks: engines.ticks,
    log: engines.log,
    topics,
    clock,
    firstTick: config.timerFirstTick,
    onFailure: (error) => logger.error({ err: error }, 'scheduler.write_failed'),
  });
