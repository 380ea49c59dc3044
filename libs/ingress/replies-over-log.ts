import { replyOf } from '../sandbox/reply-of.js';
import { type Replies } from '../runner/runner-ports.js';
import { type RunOutcome } from '../sandbox/sandbox.js';
import { type LogRecord, type StreamLog } from '../stream-log/stream-log.js';
import { type Answer, answerRecord, REPLIES, replyTopic } from './reply-records.js';

/** Answers to whichever process waits, over its reply topic. What comes in one turn of the event loop travels together. */
export const repliesOverLog = (
  log: Pick<StreamLog, 'publish'>,
  logger: { warn(fields: object, message: string): void },
): Replies => {
  let gathered: LogRecord[] = [];

  const publish = async (records: readonly LogRecord[]): Promise<void> => {
    try {
      // Where a topic is gone, so is who waited.
      await log.publish(records);
    } catch (error) {
      if (records.length > 1) {
        // One may be too large for the log: it keeps back none of the others.
        await Promise.all(records.map((record) => publish([record])));
        return;
      }
      const [record] = records;
      const fields = { ...record?.headers, topic: record?.topic, bytes: record?.value.length, error: String(error) };
      logger.warn(fields, 'reply.lost: who waits for it will run out of time');
    }
  };

  const send = (address: string, invocationId: string, answer: Answer): void => {
    // Left by a process that was its own runner.
    if (!address.startsWith(REPLIES)) return;
    if (gathered.length === 0) {
      setImmediate(() => {
        const records = gathered;
        gathered = [];
        void publish(records);
      });
    }
    gathered.push(answerRecord(address, invocationId, answer));
  };

  return {
    immediate: (address, invocationId, reply) => send(address, invocationId, { kind: 'reply', reply }),
    ended(address, invocationId, outcome, awaited) {
      if (awaited === 'reply') send(address, invocationId, { kind: 'reply', reply: replyOf(outcome) });
      else send(address, invocationId, { kind: 'outcome', outcome: toldOf(outcome) });
    },
  };
};

/** Without what nobody reads who waits: it may be megabytes. */
const toldOf = ({ status, error, logs, startedAt, endedAt }: RunOutcome): RunOutcome => ({
  ...{ status, logs, startedAt, endedAt, emits: [], dbChanges: {} },
  ...(error === undefined ? {} : { error }),
});

/**
 * Deletes the topics of processes that ended without closing their channel; returns how many. Idempotent. A process has
 * to be among the living before it opens its channel.
 */
export const sweepReplyTopics = async (log: StreamLog, liveProcessIds: readonly string[]): Promise<number> => {
  const living = new Set(liveProcessIds.map(replyTopic));
  const dead = (await log.topics(REPLIES)).filter((topic) => !living.has(topic));
  for (const topic of dead) await log.deleteTopic(topic);
  return dead.length;
};
