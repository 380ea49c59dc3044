import { replyOf, type RunOutcome } from '#libs/sandbox/index.js';
import { type Replies } from '#libs/runner/runner-ports.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type Answer, answerRecord, REPLIES } from './reply-records.js';

/** Attempts to send an answer whose topic is missing. A live process creates its topic again within seconds. */
const TRIES = 8;
const AGAIN_MS = 2_500;
/** Most bytes of answers that wait for their topic in this process. Further ones are dropped. */
const WAITING_BYTES = 4 << 20;

interface Sent {
  readonly record: LogRecord;
  readonly tries: number;
}

/**
 * Sends answers to the waiting process over its reply topic. Answers of one turn of the event loop are batched. Answers
 * without a topic are sent again for a while (docs/adr/0011), and then dropped, because their process has ended.
 */
export const repliesOverLog = (
  log: Pick<StreamLog, 'publishEach'>,
  logger: { warn(fields: object, message: string): void },
  { againMs = AGAIN_MS }: { readonly againMs?: number } = {},
): Replies => {
  let gathered: Sent[] = [];
  let waitingBytes = 0;

  const gather = (sent: Sent): void => {
    if (gathered.length === 0) {
      setImmediate(() => {
        const all = gathered;
        gathered = [];
        publish(all);
      });
    }
    gathered.push(sent);
  };

  const publish = (sent: readonly Sent[]): void =>
    log.publishEach(
      sent.map(({ record }) => record),
      (index, outcome) => {
        const one = sent[index];
        if (!one || typeof outcome === 'number') return;
        if (outcome === null) sendLater(one);
        // One of several may be too large for the log, so each that is not written is published alone.
        else if (sent.length > 1) publish([one]);
        else lost(one.record, outcome);
      },
    );

  const sendLater = ({ record, tries }: Sent): void => {
    const bytes = record.value.length;
    if (tries + 1 >= TRIES || waitingBytes + bytes > WAITING_BYTES) return;
    waitingBytes += bytes;
    const timer = setTimeout(() => {
      waitingBytes -= bytes;
      gather({ record, tries: tries + 1 });
    }, againMs);
    timer.unref();
  };

  const lost = (record: LogRecord, error: Error): void => {
    const fields = { ...record.headers, topic: record.topic, bytes: record.value.length, error: String(error) };
    logger.warn(fields, 'reply.lost: the waiting caller will time out');
  };

  const send = (address: string, invocationId: string, answer: Answer): void => {
    // An address without the prefix comes from a process that was its own runner.
    if (address.startsWith(REPLIES)) gather({ record: answerRecord(address, invocationId, answer), tries: 0 });
  };

  return {
    immediate: (address, invocationId, reply) => send(address, invocationId, { kind: 'reply', reply }),
    ended(address, invocationId, outcome, awaited) {
      if (awaited === 'reply') send(address, invocationId, { kind: 'reply', reply: replyOf(outcome, invocationId) });
      else send(address, invocationId, { kind: 'outcome', outcome: toldOf(outcome) });
    },
  };
};

/** Drops emits and db changes, which the waiting process does not read and which may be megabytes. */
const toldOf = ({ status, error, logs, startedAt, endedAt, told }: RunOutcome): RunOutcome => ({
  status,
  logs,
  startedAt,
  endedAt,
  emits: [],
  dbChanges: {},
  ...(error === undefined ? {} : { error }),
  ...(told === undefined ? {} : { told }),
});
