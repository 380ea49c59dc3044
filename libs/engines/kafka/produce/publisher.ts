import { pause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type LogRecord, type OnSettled } from '#libs/stream-log/stream-log.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type Cluster, type TopicMetadata } from '../wire/cluster.js';
import { type PartitionId } from '../lane-names.js';
import { partitionOf } from './murmur2.js';
import { keyOf } from '../consume/offsets.js';
import { PartitionQueue, type Outgoing } from './produce-batch.js';
import { Sender } from './sender.js';
import { messageOfRecord, sizeOf } from '../records.js';

/** Time to look for a topic that another process may have just created. */
const FIND_MS = 500;
const FIND_EVERY_MS = 50;
/** Time in which a topic that was not found is not looked for again. */
const MISSING_MS = 2_000;
/** Time after which a record that no broker accepts is refused. */
const GIVE_UP_MS = 30_000;
const TROUBLE_PAUSE_MS = 100;

type Unplaced = { readonly record: LogRecord; readonly outgoing: Outgoing };

/**
 * Publishes records. Records that are queued for a broker while a request is in flight share the next one. All in-sync
 * replicas acknowledge. The broker absorbs a retry after a broken connection.
 */
export class Publisher {
  private readonly queues = new Map<string, PartitionQueue>();
  private readonly senders = new Map<number, Sender>();
  /** Topics being looked for, with the records that wait for the answer. */
  private readonly finding = new Map<string, Unplaced[]>();
  /** Topics that do not exist, and until when they are not looked for again (process uptime). */
  private readonly missing = new Map<string, number>();
  private readonly idle = new Set<() => void>();
  private pending = 0;
  private looking = false;
  private closed = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly clock: Clock,
    private readonly prefix: string,
    /** Called with a partition that ends at this offset or later. */
    private readonly onAppended: (partition: PartitionId, end: number) => void,
  ) {}

  publish(records: readonly LogRecord[]): Promise<readonly (number | null)[]> {
    if (records.length === 0) return Promise.resolve([]);
    const offsets: (number | null)[] = Array.from(records, () => null);
    let left = records.length;
    return new Promise((resolve, reject) => {
      this.publishEach(records, (index, outcome) => {
        if (outcome instanceof Error) reject(outcome);
        else offsets[index] = outcome;
        if (--left === 0) resolve(offsets);
      });
    });
  }

  publishEach(records: readonly LogRecord[], settled: OnSettled): void {
    if (this.closed) {
      const error = new Error('the stream log is closed');
      queueMicrotask(() => records.forEach((_, index) => settled(index, error)));
      return;
    }
    const timestamp = this.clock.now();
    const since = performance.now();
    const call = {};
    this.pending += records.length;
    records.forEach((record, index) => {
      const message = messageOfRecord(record, timestamp);
      const finished = (outcome: number | null | Error): void => {
        if (--this.pending === 0) for (const idle of this.idle) idle();
        settled(index, outcome);
      };
      this.place(record, { message, bytes: sizeOf(message), call, since, done: finished, failed: finished });
    });
    this.wake();
  }

  /** Ends the wait of a topic's records, because the topic is known to exist or to be gone. */
  known(topic: string, exists: boolean): void {
    if (exists) this.missing.delete(topic);
    else this.missing.set(topic, performance.now() + MISSING_MS);
  }

  /** Refuses new records and resolves when the accepted ones are appended or refused. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.pending > 0) await new Promise<void>((resolve) => this.idle.add(resolve));
    for (const sender of this.senders.values()) await sender.stop();
  }

  private place(record: LogRecord, outgoing: Outgoing): void {
    const name = this.prefix + record.topic;
    const finding = this.finding.get(name);
    if (finding) {
      finding.push({ record, outgoing });
      return;
    }
    const topic = this.cluster.topic(name);
    if (topic) {
      this.enqueue(topic, record, outgoing);
      return;
    }
    if ((this.missing.get(name) ?? 0) > performance.now()) {
      outgoing.done(null);
      return;
    }
    this.finding.set(name, [{ record, outgoing }]);
    void this.find(name);
  }

  private enqueue({ name, leaders }: TopicMetadata, { key }: LogRecord, outgoing: Outgoing): void {
    const partition = partitionOf(key, leaders.length);
    const id = keyOf({ topic: name, partition });
    let queue = this.queues.get(id);
    if (!queue) this.queues.set(id, (queue = new PartitionQueue(name, partition)));
    queue.add(outgoing);
    this.offer(queue);
  }

  private async find(name: string): Promise<void> {
    const until = performance.now() + FIND_MS;
    let failure: unknown;
    let topic: TopicMetadata | undefined;
    do {
      try {
        topic = await this.cluster.refreshTopic(name);
        const isOver = performance.now() >= until;
        failure = topic || !isOver || (await this.isGone(name)) ? undefined : new Error('only some brokers know it');
      } catch (error) {
        failure = error;
      }
      if (!topic) await pause(FIND_EVERY_MS);
    } while (!topic && performance.now() < until + (failure === undefined ? 0 : GIVE_UP_MS));
    const waiting = this.finding.get(name) ?? [];
    this.finding.delete(name);
    for (const { record, outgoing } of waiting) {
      if (topic) this.enqueue(topic, record, outgoing);
      else if (failure !== undefined) outgoing.failed(new Error(`cannot publish: ${messageOf(failure)}`));
      else outgoing.done(null);
    }
    if (!topic && failure === undefined) this.known(name, false);
    this.wake();
  }

  /** Passes the queue to the sender of its leader, or to the search for a leader. */
  private offer(queue: PartitionQueue): void {
    if (queue.isEmpty || queue.sending) return;
    const leader = this.cluster.topic(queue.topic)?.leaders[queue.partition];
    if (leader === undefined || leader < 0 || queue.troubledSince !== undefined) void this.look();
    else this.senderTo(leader).add(queue);
  }

  private wake(): void {
    for (const sender of this.senders.values()) sender.wake();
  }

  private senderTo(node: number): Sender {
    let sender = this.senders.get(node);
    if (!sender) {
      sender = new Sender(node, this.cluster, {
        sent: (queue, end) => {
          if (end >= 0) this.onAppended(queue, end);
          if (queue.isEmpty) this.queues.delete(keyOf(queue));
          this.offer(queue);
          this.wake();
        },
        troubled: (queue) => {
          queue.troubledSince ??= performance.now();
          void this.look();
        },
      });
      this.senders.set(node, sender);
    }
    return sender;
  }

  /** Looks for the leaders of queues without one, repeatedly while there are any. */
  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    for (;;) {
      const stuck = [...this.queues.values()].filter(
        (queue) => !queue.sending && !queue.isEmpty && this.isStuck(queue),
      );
      if (stuck.length === 0) break;
      await pause(TROUBLE_PAUSE_MS);
      let failure: unknown;
      try {
        for (const topic of new Set(stuck.map((queue) => queue.topic))) await this.cluster.refreshTopic(topic);
      } catch (error) {
        failure = error;
        this.cluster.warn('no broker takes records', error);
      }
      for (const queue of stuck) await this.retryOrFail(queue, failure);
      this.wake();
    }
    this.looking = false;
  }

  private isStuck(queue: PartitionQueue): boolean {
    const leader = this.cluster.topic(queue.topic)?.leaders[queue.partition];
    return queue.troubledSince !== undefined || leader === undefined || leader < 0;
  }

  private async retryOrFail(queue: PartitionQueue, failure: unknown): Promise<void> {
    const now = performance.now();
    const since = (queue.troubledSince ??= now);
    const exists = failure !== undefined || (await this.existsStill(queue.topic));
    const leader = this.cluster.topic(queue.topic)?.leaders[queue.partition] ?? -1;
    if (!exists && now - since > FIND_MS) {
      this.cluster.forget(queue.topic);
      this.known(queue.topic, false);
      this.queues.delete(keyOf(queue));
      for (const { done } of queue.drain()) done(null);
    } else if (this.isTooOld(queue, now)) {
      this.queues.delete(keyOf(queue));
      const reason = failure === undefined ? 'its partition has no leader' : messageOf(failure);
      for (const { failed } of queue.drain()) failed(new Error(`cannot publish to ${queue.topic}: ${reason}`));
    } else if (exists && failure === undefined && leader >= 0) {
      queue.troubledSince = undefined;
      this.senderTo(leader).add(queue);
    }
  }

  private async existsStill(topic: string): Promise<boolean> {
    return (await this.cluster.refreshTopic(topic)) !== undefined || !(await this.isGone(topic));
  }

  private async isGone(topic: string): Promise<boolean> {
    return (await this.cluster.gone([topic])).has(topic);
  }

  private isTooOld(queue: PartitionQueue, now: number): boolean {
    const oldest = queue.next().records[0];
    return oldest !== undefined && now - oldest.since > GIVE_UP_MS;
  }
}
