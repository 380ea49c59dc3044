import { type Config } from '#libs/config/index.js';
import { type WebhookWorker } from '#libs/delivery/webhook-worker.js';
import { PressureGate } from '#libs/ingress/pressure-gate.js';
import { ResponseRelay } from '#libs/ingress/response-relay.js';
import { type Router, startRouter } from '#libs/routing/router.js';
import { type Runner } from '#libs/runtime/runner.js';
import { sourceTopics } from '#libs/runtime/source-topics.js';
import { type Scheduler, startScheduler } from '#libs/scheduling/scheduler.js';
import { type EndpointUrls } from '#libs/sources/index.js';
import { type SourceTopics } from '#libs/sources/published.js';
import { type StreamProjector } from '#libs/stream-log/stream-projector.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { type WebhookTopics } from '#libs/webhooks/index.js';
import { type ControlPlane } from './control-plane.js';
import { startDeliveries } from './deliveries.js';
import { startRuns } from './runs.js';
import { type Sandboxing } from './sandboxing.js';
import { streamProjections, streamProjector } from './stream-projections.js';
import { createFixedTopics, topicPolicy, webhookTopics } from './topic-policy.js';

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

/** Holds arrivals while more than `limit` is under way, within the bounds of docs/adr/0006. */
export const pressureGate = (underWay: () => number, limit: number, now: () => number): PressureGate =>
  new PressureGate(underWay, limit, MAX_HELD, MAX_HELD_MS, now);

/** Every role that moves events, in one process. What takes work is started last, so that nothing waits for what is not there yet. */
export const startDataPlane = async (options: DataPlaneOptions): Promise<DataPlane> => {
  const { config, plane, sandboxing, urls, metrics, logger } = options;
  const { engines, clock } = plane;
  const { log } = engines;
  const topics = topicPolicy(config);
  await createFixedTopics(log, topics);

  // Read models over the stream log.
  const projections = streamProjections(config);
  const summaries = streamProjector(engines, projections.summaries, options.onFailure);
  const attempts = streamProjector(engines, projections.attempts, options.onFailure);
  await Promise.all([summaries.start(), attempts.start()]);

  // The way of an event, from its end to its start.
  const relay = new ResponseRelay();
  const common = { config, plane, topics, metrics, logger };
  const worker = await startDeliveries({ ...common, egress: sandboxing.egress, pump: 'here' });
  const router = await startRouter({ log, topics, table: plane.views.subscriptions, clock });
  const runner = await startRuns({ ...common, sandboxing, urls, replies: relay });
  const scheduler = await startTimers(plane, topics, config, logger);
  const gate = pressureGate(
    () => runner.backlog() + router.backlog() + worker.pressure(),
    MAX_UNDER_WAY,
    () => clock.now(),
  );

  const forget = async (sourceId: string): Promise<void> => {
    await runner.forget(sourceId);
    await sandboxing.sockets.drop(sourceId);
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

export const startTimers = (
  { engines, views, clock }: ControlPlane,
  topics: TopicPolicy,
  config: Config,
  logger: Logger,
): Promise<Scheduler> =>
  startScheduler({
    ...{ sources: views.sources, ticks: engines.ticks, log: engines.log, topics, clock },
    firstTick: config.timerFirstTick,
    onFailure: (error) => logger.error({ err: error }, 'scheduler.write_failed'),
  });
