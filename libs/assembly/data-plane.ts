import { type Config } from '#libs/config/index.js';
import { startWebhookWorker, type WebhookWorker } from '#libs/delivery/webhook-worker.js';
import { DEFAULT_RETRIES, withMaxAttempts } from '#libs/delivery/retry-policy.js';
import { eventSummariesProjection } from '#libs/events/index.js';
import { PressureGate } from '#libs/ingress/pressure-gate.js';
import { ResponseRelay } from '#libs/ingress/response-relay.js';
import { type Router, startRouter } from '#libs/routing/router.js';
import { propBinder } from '#libs/runtime/prop-binder.js';
import { type Runner, startRunner } from '#libs/runtime/runner.js';
import { sourceTopics } from '#libs/runtime/source-topics.js';
import { type Scheduler, startScheduler } from '#libs/scheduling/scheduler.js';
import { boundValue, type EndpointUrls } from '#libs/sources/index.js';
import { type SourceTopics } from '#libs/sources/published.js';
import { type RetrySchedule } from '#libs/delivery/retry-schedule.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { perEmitterTopics, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { attemptsProjection, disableWebhook, webhookDirectory, type WebhookTopics } from '#libs/webhooks/index.js';
import { type ControlPlane } from './control-plane.js';
import { type Sandboxing } from './sandboxing.js';

export interface DataPlane {
  readonly topics: TopicPolicy;
  readonly relay: ResponseRelay;
  readonly gate: PressureGate;
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
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly onFailure: (error: Error) => void;
}

/** Work under way above which arrivals are held, and how many and how long (docs/adr/0006). */
const MAX_UNDER_WAY = 512;
const MAX_HELD = 1_024;
const MAX_HELD_MS = 2_000;

const topicPolicy = (config: Config): TopicPolicy =>
  perEmitterTopics({
    emitsAgeMs: config.emitsRetentionDays * 86_400_000,
    emitsBytes: config.emitsRetentionMb * 1024 * 1024,
  });

/** Every read model over the stream log. */
export const streamProjections = (config: Config): readonly [StreamProjection, StreamProjection] => [
  eventSummariesProjection({ retained: config.eventsKept }),
  attemptsProjection,
];

/** Every role that moves events. What takes work is started last, so that nothing waits for what is not there yet. */
export const startDataPlane = async (options: DataPlaneOptions): Promise<DataPlane> => {
  const { config, plane } = options;
  const { engines, clock } = plane;
  const topics = topicPolicy(config);
  for (const { topic, retention } of topics.fixed()) await engines.log.createTopic(topic, retention);

  // Read models over the stream log.
  const { log, readModels } = engines;
  const projector = (projection: StreamProjection): StreamProjector =>
    new StreamProjector({ projection, log, readModels, onFailure: options.onFailure });
  const [summaries, attempts] = streamProjections(config).map(projector) as [StreamProjector, StreamProjector];
  await Promise.all([summaries.start(), attempts.start()]);

  // The way of an event, from its end to its start.
  const relay = new ResponseRelay();
  const worker = await startDeliveries(options, topics);
  const router = await startRouter({ log, topics, table: plane.views.subscriptions, clock });
  const runner = await startRuns(options, topics, relay);
  const scheduler = await startScheduler({
    ...{ sources: plane.views.sources, ticks: engines.ticks, log, topics, clock, firstTick: config.timerFirstTick },
    onFailure: (error) => options.logger.error({ err: error }, 'scheduler.write_failed'),
  });
  const underWay = (): number => runner.backlog() + router.backlog() + worker.pressure();
  const gate = new PressureGate(underWay, MAX_UNDER_WAY, MAX_HELD, MAX_HELD_MS, () => clock.now());

  const forget = async (sourceId: string): Promise<void> => {
    await runner.forget(sourceId);
    await options.sandboxing.sockets.drop(sourceId);
  };
  const { journal, ticks } = engines;
  return {
    ...{ topics, relay, gate, runner, router, worker, scheduler, summaries, attempts },
    sourceTopics: sourceTopics({ log, topics, journal, ticks, forget }),
    webhookTopics: webhookTopics(log, topics, engines.schedule),
    async close() {
      gate.close();
      await scheduler.close();
      await runner.close();
      await router.close();
      await worker.close();
      await Promise.all([summaries.stop(), attempts.stop()]);
    },
  };
};

const startDeliveries = ({ config, plane, sandboxing, metrics, logger }: DataPlaneOptions, topics: TopicPolicy) => {
  const { engines, clock, views, handleCommand } = plane;
  return startWebhookWorker({
    ...{ log: engines.log, schedule: engines.schedule, topics, clock, logger, metrics: metrics.webhooks },
    directory: webhookDirectory(views.webhooks, engines.vault, { timeoutMs: config.webhookTimeoutS * 1_000 }),
    dispatcher: sandboxing.egress.dispatcher,
    settings: {
      concurrencyPerWebhook: config.webhookConcurrency,
      retries: withMaxAttempts(DEFAULT_RETRIES, config.webhookMaxAttempts),
    },
    onDisable: async (webhookId, reason) => {
      const webhook = views.webhooks.find(webhookId);
      if (webhook) await disableWebhook(handleCommand, clock)(webhookId, webhook.workspaceId, reason);
    },
  });
};

const startRuns = (
  { config, plane, sandboxing, urls, metrics, logger, onFailure }: DataPlaneOptions,
  topics: TopicPolicy,
  replies: ResponseRelay,
): Promise<Runner> => {
  const { engines, clock, views, usage } = plane;
  const seconds = (given: number | null, otherwise: number): number => (given ?? otherwise) * 1_000;
  return startRunner({
    ...{ log: engines.log, journal: engines.journal, blobs: engines.blobs, topics, replies, clock, logger },
    sources: views.sources,
    sandboxes: sandboxing.pool,
    binder: propBinder(engines.vault, (key) => urls.urlOf(key), boundValue),
    settings: {
      concurrency: config.sourceConcurrency,
      httpTimeoutMs: seconds(config.runTimeoutS, 30),
      timerTimeoutMs: seconds(config.runTimeoutS, 60),
      hookTimeoutMs: config.hookTimeoutS * 1_000,
      window: RUN_WINDOW,
    },
    metrics: {
      ...metrics.runner,
      run: (status, workspaceId, ms) => {
        metrics.runner.runs(status, 1);
        usage.recordRun(workspaceId, ms);
      },
    },
    onFatal: onFailure,
  });
};

/** Runs of one source that are with its process at a time: enough to fill a frame while one is on its way. */
const RUN_WINDOW = 64;

const webhookTopics = (log: StreamLog, topics: TopicPolicy, schedule: RetrySchedule): WebhookTopics => ({
  async create(webhookId) {
    for (const { topic, retention } of topics.ownedBy(webhookId)) await log.createTopic(topic, retention);
  },
  async remove(webhookId) {
    for (const { topic } of topics.ownedBy(webhookId)) await log.deleteTopic(topic);
    await schedule.removeOwner(webhookId);
  },
});
