import { endsWithin } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { Faults } from '#libs/kernel/faults.js';
import { isDropped } from '#libs/stream-log/ask.js';
import { type Consumer, type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { probeIn, probeRecord, readAnswer, replyTopic } from './reply-records.js';
import { ResponseRelay } from './response-relay.js';

export interface ReplyChannelOptions {
  readonly log: StreamLog;
  /** Unique to this start of the process. The process must be registered under it before this call. */
  readonly processId: string;
  readonly logger: { error(fields: object, message: string): void };
  /** Interval of probes of the channel, in milliseconds. Default: 5 s. */
  readonly tryEveryMs?: number;
  /** Longest time in transit of a probe, in milliseconds. Default: 5 s. */
  readonly lateMs?: number;
}

export interface ReplyChannel {
  /** Relay whose address is the channel's topic. */
  readonly relay: ResponseRelay;
  /** Reason why answers do not arrive, for `/readyz`; undefined while they do. */
  problem(): string | undefined;
  /** Stops answering callers that still wait, and deletes the topic. Idempotent. */
  close(): Promise<void>;
}

/** Retention of answers; longer than any caller waits. */
const RETENTION = { ageMs: 30 * 60_000, dropConsumed: true } as const;
const MAX_BATCH = 256;
const MAX_UNACKED = 1_024;
const TRY_EVERY_MS = 5_000;
const LATE_MS = 5_000;
/** A single late probe may be due to a stop of the whole process. */
const LATE_TRIALS = 2;

/** Opens the channel on which a process awaits answers of runners in other processes (docs/adr/0011). */
export const openReplyChannel = async (options: ReplyChannelOptions): Promise<ReplyChannel> => {
  const channel = new TriedChannel(options);
  await channel.open();
  return channel;
};

/**
 * A channel that probes itself: while no answers arrive, it sends a record to itself now and then. Its topic may have
 * been deleted, or its consumer lost, and every answer with them. It then creates them again (docs/adr/0011).
 */
class TriedChannel implements ReplyChannel {
  readonly relay: ResponseRelay;
  private readonly topic: string;
  private readonly closing = new AbortController();
  /** Ends the wait for the probe in transit. */
  private arrived: () => void = () => undefined;
  private consumer: Consumer | undefined;
  private trying: Promise<void> = Promise.resolve();
  private closed: Promise<void> | undefined;
  private trials = 0;
  private late = 0;
  /** A record arrived since the last probe. */
  private heard = false;
  private fault: string | undefined;
  private readonly faults: Faults;

  constructor(private readonly options: ReplyChannelOptions) {
    this.topic = replyTopic(options.processId);
    this.relay = new ResponseRelay(this.topic);
    this.faults = new Faults({
      say: (text, fields) => options.logger.error({ topic: this.topic, ...fields }, text),
      // Over once a record arrives, and not before.
      quietMs: NEVER_MS,
    });
  }

  async open(): Promise<void> {
    await this.options.log.createTopic(this.topic, RETENTION);
    await this.consume();
    this.trying = this.run();
  }

  problem(): string | undefined {
    return this.fault;
  }

  close(): Promise<void> {
    return (this.closed ??= this.end());
  }

  private async end(): Promise<void> {
    this.closing.abort();
    this.arrived();
    this.faults.close();
    await this.trying;
    await this.consumer?.close();
    await this.options.log.deleteTopic(this.topic);
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    const { tryEveryMs = TRY_EVERY_MS } = this.options;
    const { signal } = this.closing;
    for (;;) {
      await pause(tryEveryMs, signal);
      if (signal.aborted) return;
      if (this.heard && this.fault === undefined) {
        this.heard = false;
        continue;
      }
      try {
        await this.attempt();
      } catch (error) {
        this.failed(UNUSABLE, messageOf(error));
      }
    }
  }

  private async attempt(): Promise<void> {
    if (!this.consumer) await this.consume();
    if (await this.probe()) {
      this.works();
      return;
    }
    if (++this.late < LATE_TRIALS || this.closing.signal.aborted) return;
    this.failed(DEAF);
    const former = this.consumer;
    this.consumer = undefined;
    await former?.close();
    await this.consume();
    if (await this.probe()) this.works();
  }

  /**
   * Sends a probe to this channel, after creating its topic again if it is gone. Resolves to whether the probe arrived
   * in time.
   */
  private async probe(): Promise<boolean> {
    const { log, lateMs = LATE_MS } = this.options;
    const id = String(++this.trials);
    const arrival = new Promise<void>((resolve) => (this.arrived = resolve));
    const send = async (): Promise<boolean> => !isDropped((await log.publish([probeRecord(this.topic, id)]))[0]);
    if (!(await send())) {
      if (this.closing.signal.aborted) return false;
      this.failed(GONE);
      await log.createTopic(this.topic, RETENTION);
      if (!(await send())) return false;
    }
    return (await endsWithin(arrival, lateMs)) && !this.closing.signal.aborted;
  }

  private failed(text: string, error?: string): void {
    if (this.closing.signal.aborted) return;
    this.fault = error === undefined ? text : `${text}: ${error}`;
    this.faults.met(this.topic, text, error === undefined ? {} : { error });
  }

  private works(): void {
    this.late = 0;
    this.fault = undefined;
    this.faults.over(this.topic);
  }

  private async consume(): Promise<void> {
    this.consumer = await this.options.log.consume({
      group: this.topic,
      topics: { names: [this.topic] },
      maxBatch: MAX_BATCH,
      maxUnacked: MAX_UNACKED,
      handler: async (batch) => {
        for (const record of batch.records) {
          this.take(record);
          batch.ack(record.offset);
        }
      },
    });
  }

  private take(record: StoredRecord): void {
    const probe = probeIn(record);
    if (probe !== undefined) {
      if (probe === String(this.trials)) this.arrived();
      return;
    }
    this.heard = true;
    try {
      const read = readAnswer(record);
      if (!read) throw new Error('not an answer');
      const { invocationId, answer } = read;
      if (answer.kind === 'reply') this.relay.replied(invocationId, answer.reply);
      else this.relay.ended(this.topic, invocationId, answer.outcome);
    } catch (error) {
      const fields = { topic: this.topic, offset: record.offset, error: String(error) };
      this.options.logger.error(fields, 'reply.unreadable: dropped');
    }
  }
}

const GONE =
  'reply.topic_gone: the topic of the answers to this process was deleted, and is made anew. Callers that wait now may hear nothing';
const DEAF = 'reply.not_heard: no record arrives on the topic of the answers to this process, so it is read anew';
const UNUSABLE = 'reply.unusable: the topic of the answers to this process cannot be used';
const NEVER_MS = 2 ** 31 - 1;
