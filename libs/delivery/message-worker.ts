import { type Dispatcher } from 'undici';
import { type Clock } from '#libs/kernel/clock.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type FreshTables } from '#libs/kernel/table-freshness.js';
import { type SentMessage, readMessage } from '#libs/stream-log/message-records.js';
import { type LaneBatch, type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { MESSAGES } from '#libs/stream-log/topics.js';
import { type AttemptRequest, type AttemptResult, AttemptSender } from './http-attempt.js';
import { type DeliveryLogger, DEFAULT_WEBHOOK_SETTINGS } from './webhook-settings.js';

export const MESSAGE_GROUP = 'message-worker';

/** Messages of one lane that are sent at once. A lane has one workflow or, under a shared layout, several. */
const AT_ONCE = 16;
const TIMEOUT_MS = 5_000;

export interface MessageWorkerOptions {
  readonly log: Pick<StreamLog, 'consume'>;
  /** Whether a workflow exists. Messages of a deleted one are dropped. */
  readonly exists: (workflowId: string) => boolean;
  /** A message waits until these say that `exists` is current. */
  readonly tables: Pick<FreshTables, 'holdAnswered'>;
  /** The guarded dispatcher of createEgress. */
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly logger: DeliveryLogger;
}

export interface MessageWorker {
  /** Number of messages in the lanes of this process that are not sent. */
  backlog(): number;
  /** Begins nothing more, and waits for the requests in flight, which have a time limit. Idempotent. */
  close(): Promise<void>;
}

/**
 * Sends the messages of workflows' steps (docs/reference/workflows.md#step-send), each once unless a process dies before
 * it has acknowledged the message.
 */
export const startMessageWorker = async (options: MessageWorkerOptions): Promise<MessageWorker> => {
  const { log, exists, tables, dispatcher, clock, logger } = options;
  const attempts = new AttemptSender(dispatcher, DEFAULT_WEBHOOK_SETTINGS);
  const inFlight = new Map<string, Set<Promise<void>>>();
  let closing: Promise<void> | undefined;

  const handle = async ({ ack }: LaneBatch, record: StoredRecord): Promise<void> => {
    const read = readable(record, logger);
    if (read && exists(read.sent.workflowId)) {
      const result = await new Promise<AttemptResult>((resolve) => void attempts.request(read.request, resolve));
      report(logger, read.sent, result, clock.now() - record.timestamp);
    }
    ack(record.offset);
  };
  const begin = (batch: LaneBatch, record: StoredRecord): void => {
    const ofLane = inFlight.get(batch.lane) ?? new Set();
    inFlight.set(batch.lane, ofLane);
    const handled = handle(batch, record).finally(() => {
      ofLane.delete(handled);
      if (ofLane.size === 0 && inFlight.get(batch.lane) === ofLane) inFlight.delete(batch.lane);
    });
    ofLane.add(handled);
  };

  const consumer = await log.consume({
    group: MESSAGE_GROUP,
    topics: { prefix: MESSAGES },
    maxBatch: AT_ONCE,
    maxUnacked: AT_ONCE,
    async handler(batch) {
      const isOver = (): boolean => closing !== undefined || batch.revoked();
      if (!(await tables.holdAnswered(isOver))) return;
      // After a pause of the process another may own the lane.
      await batch.inDoubt?.();
      if (!isOver()) for (const record of batch.records) begin(batch, record);
    },
    // The requests end by themselves before the next owner stops waiting.
    onRevoked: async (lane) => void (await Promise.all([...(inFlight.get(lane) ?? [])])),
  });
  const close = async (): Promise<void> => {
    await Promise.all([...inFlight.values()].flatMap((ofLane) => [...ofLane]));
    await consumer.close();
  };
  return { backlog: () => consumer.backlog(), close: () => (closing ??= close()) };
};

const readable = (
  record: StoredRecord,
  logger: DeliveryLogger,
): { readonly sent: SentMessage; readonly request: AttemptRequest } | undefined => {
  try {
    const sent = readMessage(record);
    return { sent, request: requestOf(sent) };
  } catch (error) {
    // Not written by this server. The lane goes on without it.
    const { topic, offset } = record;
    logger.error({ topic, offset, error: messageOf(error) }, 'message.unreadable');
    return undefined;
  }
};

const requestOf = ({ id, message }: SentMessage): AttemptRequest => {
  const { origin, pathname, search } = new URL(message.url);
  const named = { 'user-agent': 'Sluice-Workflows/1', ...message.headers, 'x-pd-send-id': id };
  return {
    method: message.method,
    origin,
    path: pathname + search,
    headers: Object.entries(named).flat(),
    body: message.body === null ? null : Buffer.from(message.body),
    timeoutMs: TIMEOUT_MS,
  };
};

const report = (logger: DeliveryLogger, sent: SentMessage, result: AttemptResult, ageMs: number): void => {
  const { id, workflowId: workflow, workspaceId: workspace, runId: run, message } = sent;
  const { status, error, ms } = result;
  const fields = {
    message: id,
    kind: message.kind,
    workflow,
    workspace,
    run,
    status,
    error,
    ms: Math.round(ms),
    ageMs,
  };
  if (status !== null && status >= 200 && status < 300) logger.info(fields, 'message.sent');
  else logger.warn(fields, 'message.failed');
};
