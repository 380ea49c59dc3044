import { type Clock } from '#libs/kernel/clock.js';
import { type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { type LaneBatch, type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { EMITS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { routeEmit } from './route-emit.js';
import { type SubscriptionTable } from './subscription-table.js';

export interface RouterMetrics {
  /** Emits looked up. */
  emits: number;
  invocations: number;
  deliveries: number;
  /** Matches with a workflow as listener. */
  workflowsSkipped: number;
  /** Emits that were not passed on because of MAX_HOPS. */
  hopLimited: number;
  /** Records whose topic was gone: the listener was deleted meanwhile. */
  dropped: number;
}

export interface RouterOptions {
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  /** Must have applied the whole event log before the router starts: an emit is looked up once. */
  readonly table: SubscriptionTable;
  readonly clock: Clock;
  readonly maxBatch?: number;
  readonly maxUnacked?: number;
  /** Records of one publish; what fans out wider is published in several, so that memory stays bounded. */
  readonly maxPublish?: number;
}

export interface Router {
  readonly metrics: Readonly<RouterMetrics>;
  /** Emits not yet routed. */
  backlog(): number;
  backlogOf(lane: string): number;
  /** Batches that could not be published and were handed over again. */
  failures(): number;
  close(): Promise<void>;
}

/**
 * Role `router`: step 4 of the path of an event (docs/architecture.md). An emit is acknowledged once all that follows
 * from it is durable; a crash before that routes it again, with the same ids.
 */
export const startRouter = async (options: RouterOptions): Promise<Router> => {
  const { log, maxBatch = 500, maxUnacked = 2_000 } = options;
  const metrics: RouterMetrics = {
    emits: 0,
    invocations: 0,
    deliveries: 0,
    workflowsSkipped: 0,
    hopLimited: 0,
    dropped: 0,
  };
  const consumer = await log.consume({
    group: 'router',
    topics: { prefix: EMITS },
    maxBatch,
    maxUnacked,
    handler: (batch) => routeBatch(batch, options, metrics),
  });
  return {
    metrics,
    backlog: () => consumer.backlog(),
    backlogOf: (lane) => consumer.backlogOf(lane),
    failures: () => consumer.failures(),
    close: () => consumer.close(),
  };
};

const routeBatch = async (batch: LaneBatch, options: RouterOptions, metrics: RouterMetrics): Promise<void> => {
  const { log, topics, table, clock, maxPublish = 4_000 } = options;
  const now = clock.now();
  let out: LogRecord[] = [];
  let routed: number[] = [];

  const flush = async (): Promise<void> => {
    if (out.length > 0) count(metrics, out, await log.publish(out));
    for (const offset of routed) batch.ack(offset);
    out = [];
    routed = [];
  };

  for (const record of batch.records) {
    if (batch.revoked()) return;
    const emit = { headers: record.headers as EmitHeaders, value: record.value };
    const { records, workflowsSkipped, hopLimited } = routeEmit(emit, table, topics, now);
    metrics.emits++;
    metrics.workflowsSkipped += workflowsSkipped;
    if (hopLimited) metrics.hopLimited++;
    for (const next of records) out.push(next);
    routed.push(record.offset);
    if (out.length >= maxPublish) await flush();
  }
  await flush();
};

const count = (metrics: RouterMetrics, records: readonly LogRecord[], offsets: readonly (number | null)[]): void => {
  records.forEach((record, i) => {
    if (offsets[i] === null) metrics.dropped++;
    else if ('webhook' in record.headers) metrics.deliveries++;
    else if ('source' in record.headers) metrics.invocations++;
  });
};
