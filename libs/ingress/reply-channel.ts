import { type StoredRecord, type StreamLog } from '../stream-log/stream-log.js';
import { readAnswer, replyTopic } from './reply-records.js';
import { ResponseRelay } from './response-relay.js';

export interface ReplyChannelOptions {
  readonly log: StreamLog;
  /** Unique to this start of the process. The process must be registered under it before this call. */
  readonly processId: string;
  readonly logger: { error(fields: object, message: string): void };
}

export interface ReplyChannel {
  /** Relay whose address is the channel's topic. */
  readonly relay: ResponseRelay;
  /** Stops answering callers that still wait, and deletes the topic. Idempotent. */
  close(): Promise<void>;
}

/** Retention of answers; longer than any caller waits. */
const KEPT_MS = 30 * 60_000;
const MAX_BATCH = 256;
const MAX_UNACKED = 1_024;

/** Opens the channel on which a process awaits answers of runners in other processes (docs/adr/0011). */
export const openReplyChannel = async ({ log, processId, logger }: ReplyChannelOptions): Promise<ReplyChannel> => {
  const topic = replyTopic(processId);
  const relay = new ResponseRelay(topic);
  const deliver = (record: StoredRecord): void => {
    try {
      const read = readAnswer(record);
      if (!read) throw new Error('not an answer');
      const { invocationId, answer } = read;
      if (answer.kind === 'reply') relay.replied(invocationId, answer.reply);
      else relay.ended(topic, invocationId, answer.outcome);
    } catch (error) {
      logger.error({ topic, offset: record.offset, error: String(error) }, 'reply.unreadable: dropped');
    }
  };

  await log.createTopic(topic, { ageMs: KEPT_MS, dropConsumed: true });
  const consumer = await log.consume({
    group: topic,
    topics: { names: [topic] },
    maxBatch: MAX_BATCH,
    maxUnacked: MAX_UNACKED,
    async handler(batch): Promise<void> {
      for (const record of batch.records) {
        deliver(record);
        batch.ack(record.offset);
      }
    },
  });
  const close = async (): Promise<void> => {
    await consumer.close();
    await log.deleteTopic(topic);
  };
  let closing: Promise<void> | undefined;
  return { relay, close: () => (closing ??= close()) };
};
