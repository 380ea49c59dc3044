import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type LogRecord, type Retention } from '#libs/stream-log/stream-log.js';
import { type TopicAdmin } from './admin/topic-admin.js';
import { keyOf, LATEST, type Offsets } from './consume/offsets.js';
import { TOPIC_NEWS } from './lane-names.js';
import { failIf } from './wire/broker-connection.js';
import { RETRY_PAUSES, type Cluster } from './wire/cluster.js';

export interface TopicNewsHost {
  readonly cluster: Cluster;
  readonly admin: Pick<TopicAdmin, 'create'>;
  readonly offsets: Pick<Offsets, 'at'>;
  readonly prefix: string;
  readonly clock: Clock;
  publish(records: readonly LogRecord[]): Promise<unknown>;
  /** Called when news begin to arrive again, and when they stop. */
  changed(): void;
}

const PURPOSE = 'topic news';
/** Shorter than the time limit of a request. */
const WAIT_MS = 10_000;
const ANSWER_BYTES = 1 << 20;
/** A fetch without a session of the broker. */
const NO_SESSION = { sessionId: 0, sessionEpoch: -1, forgottenTopics: [] };
const PARTITION = { partition: 0, maxBytes: ANSWER_BYTES };
/** A process that starts later needs no old news, because it reads the list of topics. */
const KEPT_MS = 3_600_000;
const KEPT: Retention = { ageMs: KEPT_MS };

/**
 * Notifies processes of topics that others created or deleted. Each is a record with the topic's name on a topic of one
 * partition, which every process reads with one long poll. A lost record does no harm, because the list of topics is
 * also read from time to time, and often while no news arrive.
 */
export class TopicNews {
  private readonly pause = new WakeablePause();
  private listening: Promise<void> | undefined;
  private closed = false;
  private heard = false;
  /** The next offset to read; undefined before the first one and when it was lost. */
  private next: number | undefined;
  /** Monotonic time at which old news were last dropped. */
  private droppedAt: number | undefined;

  constructor(private readonly host: TopicNewsHost) {}

  /** Whether topics created elsewhere are reported. */
  get isHeard(): boolean {
    return this.heard;
  }

  /** Idempotent. */
  listen(): void {
    this.listening ??= this.run();
  }

  /** Notifies the other processes. Never rejects. */
  async tell(topic: string): Promise<void> {
    try {
      await this.host.publish([{ topic: TOPIC_NEWS, key: topic, headers: {}, value: topic }]);
    } catch (error) {
      this.host.cluster.warn('the other processes hear later of a topic', error, { topic });
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.host.cluster.drop(PURPOSE);
    this.pause.wake();
    await this.listening;
  }

  private async run(): Promise<void> {
    const { cluster } = this.host;
    const backoff = new Backoff(RETRY_PAUSES);
    while (!this.closed) {
      try {
        await this.read();
        this.set(true);
        backoff.reset();
      } catch (error) {
        if (this.closed) return;
        this.set(false);
        cluster.warn('news of topics cannot be read, so topics are looked for', error);
        await this.pause.wait(backoff.next());
      }
    }
  }

  private set(heard: boolean): void {
    if (this.heard === heard) return;
    this.heard = heard;
    this.host.changed();
  }

  private async read(): Promise<void> {
    const { cluster, prefix } = this.host;
    const { id, leader } = await this.place();
    if (this.next === undefined) {
      this.next = await this.end();
      // Topics that were created before are no longer news.
      await cluster.refresh();
      return;
    }
    if (this.droppedAt === undefined || performance.now() - this.droppedAt > KEPT_MS) {
      this.droppedAt = performance.now();
      await this.dropOld(leader, this.next);
    }
    const reply = await cluster.call(leader, PURPOSE, 'Fetch', {
      ...NO_SESSION,
      maxWaitTime: WAIT_MS,
      minBytes: 1,
      maxBytes: ANSWER_BYTES,
      topics: [{ topicId: id, partitions: [{ ...PARTITION, fetchOffset: this.next }] }],
    });
    const partition = reply.responses[0]?.partitions[0];
    const code = reply.errorCode || (partition?.errorCode ?? 0);
    if (code !== 0) {
      this.next = undefined;
      await cluster.refreshTopic(prefix + TOPIC_NEWS);
      failIf('the topic of news', code);
    }
    const news = new Set((partition?.messages ?? []).map(({ value }) => prefix + String(value)));
    this.next = partition?.next ?? this.next;
    if (news.size > 0) void cluster.look([...news]);
  }

  /**
   * Deletes news older than an hour, at the start of each process and every hour. Otherwise the topic would grow with
   * each created or deleted topic. A process that has not read them by then reads the list of topics instead.
   */
  private async dropOld(leader: number, read: number): Promise<void> {
    const { cluster, offsets, clock, prefix } = this.host;
    const topic = prefix + TOPIC_NEWS;
    const partition = { topic, partition: 0 };
    const since = (await offsets.at([partition], clock.now() - KEPT_MS)).get(keyOf(partition)) ?? 0;
    const offset = since < 0 ? read : Math.min(since, read);
    if (offset === 0) return;
    const topics = [{ topic, partitions: [{ partition: 0, offset }] }];
    const reply = await cluster.call(leader, 'offsets', 'DeleteRecords', { timeout: WAIT_MS, topics });
    const code = reply.topics[0]?.partitions[0]?.errorCode ?? 0;
    if (code !== 0) cluster.warn('old news of topics could not be dropped', new Error(`code ${code}`));
  }

  private async place(): Promise<{ readonly id: string; readonly leader: number }> {
    const { cluster, admin, prefix } = this.host;
    const name = prefix + TOPIC_NEWS;
    if (!cluster.topic(name) && !(await cluster.refreshTopic(name))) await admin.create(name, KEPT, 1);
    const known = cluster.topic(name);
    const leader = known?.leaders[0] ?? -1;
    if (known && leader >= 0) return { id: known.id, leader };
    await cluster.refreshTopic(name);
    throw new Error('the topic of news has no leader');
  }

  private async end(): Promise<number> {
    const partition = { topic: this.host.prefix + TOPIC_NEWS, partition: 0 };
    const end = (await this.host.offsets.at([partition], LATEST)).get(keyOf(partition));
    if (end === undefined) throw new Error('the topic of news was deleted');
    return end;
  }
}
