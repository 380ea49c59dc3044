import { replyOf } from '../sandbox/reply-of.js';
import { type Replies } from '../runner/runner-ports.js';
import { type RunOutcome } from '../sandbox/sandbox.js';
import { type LogRecord, type StreamLog } from '../stream-log/stream-log.js';
import { type Answer, answerRecord, REPLIES, replyTopic } from './reply-records.js';

/** Sends answers to the waiting process over its reply topic. Answers of one turn of the event loop are batched. */
export const repliesOverLog = (
  log: Pick<StreamLog, 'publishEach'>,
  logger: { warn(fields: object, message: string): void },
): Replies => {
  let gathered: LogRecord[] = [];

  /** A missing topic means that the waiting process has exited. */
  const publish = (records: readonly LogRecord[]): void =>
    log.publishEach(records, (index, outcome) => {
      const record = records[index];
      if (!record || !(outcome instanceof Error)) return;
      if (records.length > 1) {
        // One of several may be too large for the log, so each that is not written is published alone.
        publish([record]);
        return;
      }
      const fields = { ...record.headers, topic: record.topic, bytes: record.value.length, error: String(outcome) };
      logger.warn(fields, 'reply.lost: the waiting caller will time out');
    });

  const send = (address: string, invocationId: string, answer: Answer): void => {
    // An address without the prefix comes from a process that was its own runner.
    if (!address.startsWith(REPLIES)) return;
    if (gathered.length === 0) {
      setImmediate(() => {
        const records = gathered;
        gathered = [];
        publish(records);
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

/** Drops emits and db changes, which the waiting process does not read and which may be megabytes. */
const toldOf = ({ status, error, logs, startedAt, endedAt }: RunOutcome): RunOutcome => ({
  status,
  logs,
  startedAt,
  endedAt,
  emits: [],
  dbChanges: {},
  ...(error === undefined ? {} : { error }),
});

/**
 * Deletes the topics of processes that ended without closing their channel; returns how many. Idempotent. A process
 * must be registered as live before it opens its channel.
 */
export const sweepReplyTopics = async (log: StreamLog, liveProcessIds: readonly string[]): Promise<number> => {
  const living = new Set(liveProcessIds.map(replyTopic));
  const dead = (await log.topics(REPLIES)).filter((topic) => !living.has(topic));
  for (const topic of dead) await log.deleteTopic(topic);
  return dead.length;
};
