import { Backoff } from '#libs/async/backoff.js';
import { endsWithin } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { type DueEntry, type DueStore } from '#libs/due/due-store.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type FreshTables } from '#libs/kernel/table-freshness.js';
import { eachAlone } from '#libs/stream-log/lane-writer.js';
import { type SentMessage, nextAttemptRecord, outcomeRecord, readMessage } from '#libs/stream-log/message-records.js';
import { type LaneBatch, type LogRecord, type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { MESSAGES, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type MessageAttempt, decideMessage } from './message-attempt.js';
import { type MessageSenders, type SendMessage, messageSender } from './message-senders.js';
import { OutcomeWriter } from './outcome-writer.js';
import { type DeliveryLogger, DEFAULT_WEBHOOK_SETTINGS } from './webhook-settings.js';

export const MESSAGE_GROUP = 'message-worker';

/** Messages of one lane that are sent at once. A lane has one workflow or, under a shared layout, several. */
const AT_ONCE = 16;

export interface MessageWorkerOptions extends MessageSenders {
  readonly log: StreamLog;
  readonly due: Pick<DueStore, 'put' | 'remove'>;
  readonly topics: Pick<TopicPolicy, 'runs'>;
  /** Whether a workflow exists. Messages of a deleted one are dropped. */
  readonly exists: (workflowId: string) => boolean;
  /** A message waits until these say that `exists` is current. */
  readonly tables: Pick<FreshTables, 'holdAnswered'>;
  /** Returns a number in [0, 1). Default: Math.random. */
  readonly random?: () => number;
  readonly logger: DeliveryLogger;
}

export interface MessageWorker {
  /** Number of messages in the lanes of this process that are not sent. */
  backlog(): number;
  /** Begins nothing more, and waits for the requests in flight, which have a time limit. Idempotent. */
  close(): Promise<void>;
}

/**
 * Sends the messages of workflows' steps (docs/reference/workflows.md#step-send), and tells the history of the run what
 * became of each. A message is acknowledged once its outcome is durable, and its next attempt if there is one. So a
 * process that dies before repeats it under the same id (docs/adr/0072).
 */
export const startMessageWorker = async (options: MessageWorkerOptions): Promise<MessageWorker> => {
  const { log, due, exists, tables, clock, logger } = options;
  const outcomes = new OutcomeWriter<LogRecord>({
    log,
    due,
    logger,
    onFailure: () => undefined,
    pack: eachAlone,
    what: 'outcomes of messages',
  });
  const send = messageSender(options);
  const inFlight = new Map<string, Set<Promise<void>>>();
  let closing: Promise<void> | undefined;
  const stopping = new AbortController();

  const handle = async (batch: LaneBatch, record: StoredRecord): Promise<void> => {
    const sent = readable(record, logger);
    if (sent && exists(sent.workflowId)) {
      const startedAt = clock.now();
      const result = await resultOf(sent, { send, stopping: stopping.signal, batch, logger });
      // Its next owner sends it.
      if (!result) return;
      const { attempt, waiting } = recordsOf(options, record, { sent, result, startedAt });
      await new Promise<void>((durable) => outcomes.push({ attempt, waiting, durable }));
    }
    if (!batch.revoked()) batch.ack(record.offset);
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
  const ended = async (lanes: readonly Iterable<Promise<void>>[], ms: number): Promise<void> =>
    void (await endsWithin(Promise.all(lanes.flatMap((ofLane) => [...ofLane])), ms));

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
    onRevoked: (lane) => ended([inFlight.get(lane) ?? []], DEFAULT_WEBHOOK_SETTINGS.revokeMs),
  });
  const close = async (): Promise<void> => {
    stopping.abort();
    await ended([...inFlight.values()], DEFAULT_WEBHOOK_SETTINGS.closeMs);
    outcomes.abandon();
    await consumer.close();
  };
  return { backlog: () => consumer.backlog(), close: () => (closing ??= close()) };
};

interface Trying {
  readonly send: SendMessage;
  readonly stopping: AbortSignal;
  readonly batch: LaneBatch;
  readonly logger: DeliveryLogger;
}

/** Tries until there is an outcome, because a failure here is one of the platform. Undefined when the lane is lost. */
const resultOf = async (
  sent: SentMessage,
  { send, stopping, batch, logger }: Trying,
): Promise<MessageAttempt | undefined> => {
  const backoff = new Backoff({ firstMs: 100, longestMs: 5_000 });
  while (!stopping.aborted && !batch.revoked()) {
    try {
      return await send(sent);
    } catch (error) {
      logger.error({ message: sent.id, err: error }, 'message.not_tried: tried again');
      await pause(backoff.next(), stopping);
    }
  }
  return undefined;
};

const readable = (record: StoredRecord, logger: DeliveryLogger): SentMessage | undefined => {
  try {
    return readMessage(record);
  } catch (error) {
    // Not written by this server. The lane goes on without it.
    const { topic, offset } = record;
    logger.error({ topic, offset, error: messageOf(error) }, 'message.unreadable');
    return undefined;
  }
};

interface Attempted {
  readonly sent: SentMessage;
  readonly result: MessageAttempt;
  readonly startedAt: number;
}

/** Decides what follows an attempt. Returns what must be durable before the message is acknowledged. */
const recordsOf = (
  { topics, clock, random = Math.random, logger }: MessageWorkerOptions,
  record: StoredRecord,
  { sent, result, startedAt }: Attempted,
): { readonly attempt: LogRecord; readonly waiting: DueEntry | undefined } => {
  const now = clock.now();
  const decision = decideMessage(result, sent, random(), now);
  const { status, error } = result;
  const { attempt: attempts, message, ...origin } = sent;
  const state = decision.kind === 'success' ? 'sent' : decision.kind === 'retry' ? 'queued' : 'failed';
  const { id, workflowId: workflow, workspaceId: workspace, runId: run } = origin;
  const of = { message: id, kind: message.kind, workflow, workspace, run };
  const fields = { ...of, attempts, status, error, ms: now - startedAt, ageMs: now - record.timestamp };
  if (state === 'sent') logger.info(fields, 'message.sent');
  else logger.warn(fields, state === 'queued' ? 'message.retried' : 'message.failed');
  return {
    attempt: outcomeRecord(topics, { ...origin, state, attempts, status, error }),
    waiting: decision.kind === 'retry' ? nextAttempt(record, sent, now + decision.delayMs) : undefined,
  };
};

const nextAttempt = (record: StoredRecord, { id, workflowId, attempt }: SentMessage, dueAt: number): DueEntry => ({
  id: `${id}/${attempt + 1}`,
  owner: workflowId,
  kind: 'message',
  dueAt,
  record: nextAttemptRecord(record, attempt + 1),
});
