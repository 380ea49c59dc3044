import { type ControlPlane } from '#libs/composition/control-plane.js';
import { type DiskWatch } from '#libs/hosting/disk-watch.js';
import { LocalBacklog } from '#libs/ingress/local-backlog.js';
import { httpBytesOf } from '#libs/composition/pressure.js';
import { type IngressRole, startIngressRole } from '#libs/composition/roles/ingress.js';
import { type Room } from '#libs/composition/roles/role-process.js';
import { startMessages } from '#libs/composition/messages.js';
import { startRouterRole } from '#libs/composition/roles/router.js';
import { keepRunHistory } from '#libs/composition/roles/run-history.js';
import { startRunnerRole } from '#libs/composition/roles/runner.js';
import { startSchedulerRole } from '#libs/composition/roles/scheduler.js';
import { startWebhookWorkerRole } from '#libs/composition/roles/webhook-worker.js';
import { type Sandboxing } from '#libs/composition/sandboxing.js';
import { type StreamReadModel } from '#libs/composition/contexts.js';
import { cleanUpPorts } from '#libs/composition/reactions.js';
import { streamReadModels } from '#libs/composition/read-models.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { webhookTopics } from '#libs/delivery/webhook-topics.js';
import { type Config } from '#libs/config/index.js';
import { type HttpBytes } from '#libs/http/bytes-in-flight.js';
import { type SubscriptionTable } from '#libs/routing/subscription-table.js';
import { ResponseRelay } from '#libs/ingress/response-relay.js';
import { type Runner } from '#libs/runner/source/runner.js';
import { sourceTopics } from '#libs/runner/source/source-topics.js';
import { type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { type EndpointUrls } from '#libs/sources/index.js';
import { type SourceTopics } from '#libs/sources/published.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { UnreadLimits } from '#libs/stream-log/unread-limits.js';
import { type WebhookTopics } from '#libs/webhooks/index.js';
import { type OneProcess } from './one-process.js';

/** Services of the roles for the API and the reactions. */
export interface EveryRole extends StreamReadModels {
  readonly ingress: IngressRole;
  readonly runner: Runner;
  readonly relay: ResponseRelay;
  readonly backlog: LocalBacklog;
  /** Shared by the API and the endpoints. */
  readonly bytes: HttpBytes;
  readonly unread: UnreadLimits;
  readonly sourceTopics: SourceTopics;
  readonly webhookTopics: WebhookTopics;
}

export interface EveryRoleOptions {
  /** The router's table of subscriptions. */
  readonly table: SubscriptionTable;
  readonly sandboxing: Sandboxing;
  readonly urls: EndpointUrls;
  readonly publicUrl: string;
  readonly disk: DiskWatch;
  readonly engines: Pick<EmbeddedEngines, 'due' | 'queuedBytes'>;
  readonly onFailure: (error: Error) => void;
}

/**
 * Starts every role that moves events, from the end of an event's path to its start, so that each role finds its
 * successors ready.
 */
export const startEveryRole = async (own: OneProcess, options: EveryRoleOptions): Promise<EveryRole> => {
  const { config, plane, topics, handedOver } = own;
  const { table, sandboxing, urls, publicUrl, disk, engines, onFailure } = options;
  const unread = unreadLimits(config, plane, topics);
  const room = roomOf(disk, unread);
  const backlog = new LocalBacklog(handedOver, () => engines.queuedBytes());
  const relay = new ResponseRelay();

  const streams = await startStreamReadModels(own, onFailure);
  const runs = await keepRunHistory(own);
  own.countBacklog('run_history', () => runs.backlog());
  const worker = await startWebhookWorkerRole(own, { egress: sandboxing.egress });
  await startMessages(own, { egress: sandboxing.egress, publicUrl });
  const router = await startRouterRole(own, { backlog, table, room });
  backlog.bind({ worker, router });
  const routing = router.atCommit;
  const runner = await startRunnerRole(own, { backlog, room, sandboxing, urls, publicUrl, routing, replies: relay });
  backlog.bind({ runner });
  unread.count({
    invocations: (lane) => runner.unreadBytesOf(lane),
    emits: (lane) => router.unreadBytesOf(lane),
    deliveries: (lane) => worker.unreadBytesOf(lane),
    waiting: (webhookId) => engines.due.bytesOf(webhookId),
  });
  await startSchedulerRole(own, { postpone: (entry) => worker.postpone(entry) });
  const bytes = httpBytesOf(config);
  const ingress = startIngressRole(own, { backlog, room, relay, bytes });

  const { log, journal, ticks, delayed, due } = plane.engines;
  const forget = (sourceId: string): Promise<void> => runner.forget(sourceId);
  return {
    ingress,
    runner,
    relay,
    backlog,
    bytes,
    unread,
    ...streams,
    sourceTopics: sourceTopics({ log, topics, journal, ticks, delayed, due, forget }),
    webhookTopics: webhookTopics(log, topics, due),
  };
};

export interface StreamReadModels {
  readonly readModels: Readonly<Record<StreamReadModel['name'], StreamProjector>>;
  /** Reactions that clean up these read models. */
  readonly cleanUps: readonly Reactor[];
}

/** Starts the read models over the stream log. Those over the event log belong to the control plane. */
const startStreamReadModels = async (own: OneProcess, onFailure: (error: Error) => void): Promise<StreamReadModels> => {
  const { config, plane, closing, countBacklog } = own;
  const ports = cleanUpPorts(own);
  const started = streamReadModels(config).map(({ name, projection, cleanUp }) => {
    const projector = new StreamProjector({ ...plane.engines, projection, onFailure });
    return { name, projector, cleanUp: cleanUp(ports, projector) };
  });
  await Promise.all(started.map(({ projector }) => projector.start()));
  closing('read models', async () => void (await Promise.all(started.map(({ projector }) => projector.stop()))));
  for (const { name, projector } of started) countBacklog(name, () => projector.backlog());
  const readModels = Object.fromEntries(started.map(({ name, projector }) => [name, projector]));
  return {
    readModels: readModels as StreamReadModels['readModels'],
    cleanUps: started.map(({ cleanUp }) => cleanUp),
  };
};

const roomOf = (disk: DiskWatch, unread: UnreadLimits): Room => ({
  refusal: ({ sourceId, workspaceId }) => disk.refusal() ?? unread.refusal(sourceId, workspaceId),
  isFull: (topic) => disk.isFull() || unread.isFull(topic),
  isPaused: (sourceId) => disk.isFull() || unread.isPaused(sourceId),
});

const MB = 1024 * 1024;
/** Unread bytes of a workspace, as a multiple of those of a source. */
const WORKSPACE_TIMES = 8;

const unreadLimits = (config: Config, { views, clock }: ControlPlane, topics: TopicPolicy): UnreadLimits =>
  new UnreadLimits({
    topics,
    settings: {
      laneBytes: config.sourceUnreadMb * MB,
      emitsBytes: config.emitsRetentionMb * MB,
      workspaceBytes: WORKSPACE_TIMES * config.sourceUnreadMb * MB,
    },
    sources: () => views.sources.states(),
    now: () => clock.now(),
  });
