import { Backoff } from '#libs/async/backoff.js';
import { pause, WakeablePause } from '#libs/async/pause.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { KafkaError } from '../wire/broker-connection.js';
import { keyOf } from '../consume/offsets.js';
import { type Batch, type PartitionQueue } from './produce-batch.js';
import { ProducerIdentity } from './producer-id.js';
import { CODE, isLeaderMoving } from '../wire/protocol.js';

const REQUEST_BYTES = 4 << 20;
const PRODUCE_MS = 10_000;
/**
 * Pause after an answer in which the records of a busy process gather. Fewer and larger requests make every later step
 * cheaper, by a fifth of the CPU with eight sources (docs/adr/0012). A record after a rest is sent at once.
 */
const GATHER_MS = 5;

export interface SenderHost {
  /** The queue's batch was appended or refused. `end` is the offset after its last record, or -1 when it was refused. */
  sent(queue: PartitionQueue, end: number): void;
  /** The broker refused the queue's batch for now, or its answer was lost. The batch must be sent again. */
  troubled(queue: PartitionQueue): void;
}

/** Sends produce requests to one broker, one at a time. */
export class Sender {
  private readonly queues = new Set<PartitionQueue>();
  private readonly pause = new WakeablePause();
  private readonly ended: Promise<void>;
  private identity: ProducerIdentity | undefined;
  private stopped = false;
  /** Process uptime, milliseconds. */
  private answeredAt = -Infinity;

  constructor(
    private readonly node: number,
    private readonly cluster: Cluster,
    private readonly host: SenderHost,
  ) {
    this.ended = this.run();
  }

  /** Adds the queue to the next request; call `wake`. */
  add(queue: PartitionQueue): void {
    this.queues.add(queue);
  }

  wake(): void {
    if (this.queues.size > 0) this.pause.wake();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.pause.wake();
    await this.ended;
  }

  private async run(): Promise<void> {
    const backoff = new Backoff(RETRY_PAUSES);
    while (!this.stopped) {
      if (this.queues.size === 0) await this.pause.wait();
      if (this.queues.size === 0) continue;
      try {
        this.identity ??= await ProducerIdentity.begin(this.cluster);
      } catch (error) {
        this.cluster.warn('no producer id was given', error, { broker: this.node });
        for (const queue of [...this.queues]) this.giveBack(queue);
        await this.pause.wait(backoff.next());
        continue;
      }
      backoff.reset();
      await this.gather();
      await this.send(this.identity);
      this.answeredAt = performance.now();
    }
  }

  private async gather(): Promise<void> {
    const left = this.answeredAt + GATHER_MS - performance.now();
    if (left > 0) await pause(left);
  }

  private async send(identity: ProducerIdentity): Promise<void> {
    const queues = this.nextRequest(identity);
    for (const queue of queues.values()) queue.sending = true;
    let codes: ReadonlyMap<string, { readonly code: number; readonly first: number }>;
    try {
      codes = await this.produce(queues);
    } catch (error) {
      this.cluster.warn('records could not be sent; they will be sent again', error, { broker: this.node });
      for (const queue of queues.values()) this.giveBack(queue);
      return;
    }
    for (const [key, queue] of queues) {
      queue.sending = false;
      const answer = codes.get(key);
      if (answer) this.finish(queue, answer.code, answer.first);
      else this.giveBack(queue);
      // The host offers records that arrived in the meantime again, so they are in the next request.
    }
  }

  /** Batches of one identity that fit in one request, by key. */
  private nextRequest(identity: ProducerIdentity): Map<string, PartitionQueue> {
    const fitting = new Map<string, PartitionQueue>();
    let bytes = 0;
    let first: ProducerIdentity | undefined;
    for (const queue of this.queues) {
      if (queue.isEmpty) {
        this.queues.delete(queue);
        continue;
      }
      const batch = queue.next();
      if (fitting.size > 0 && bytes + batch.bytes > REQUEST_BYTES) break;
      if (first !== undefined && (batch.identity ?? identity) !== first) continue;
      if (batch.identity === undefined) {
        batch.identity = identity;
        batch.firstSequence = identity.reserve(batch, batch.records.length);
      }
      first = batch.identity;
      bytes += batch.bytes;
      fitting.set(keyOf(queue), queue);
      this.queues.delete(queue);
    }
    return fitting;
  }

  private async produce(
    queues: ReadonlyMap<string, PartitionQueue>,
  ): Promise<Map<string, { readonly code: number; readonly first: number }>> {
    const batches = [...queues.values()].map((queue) => queue.next());
    const identity = batches[0]?.identity;
    if (!identity) return new Map();
    const reply = await this.cluster.call(this.node, 'produce', 'Produce', {
      timeout: PRODUCE_MS,
      producerId: identity.id,
      producerEpoch: identity.epoch,
      batches: batches.map(({ topic, partition, firstSequence, records }) => ({
        topic,
        partition,
        firstSequence,
        messages: records.map(({ message }) => message),
      })),
    });
    const codes = new Map<string, { code: number; first: number }>();
    for (const { topic, partitions } of reply.topics) {
      for (const { partition, errorCode, baseOffset } of partitions) {
        codes.set(keyOf({ topic, partition }), { code: errorCode, first: baseOffset });
      }
    }
    return codes;
  }

  private finish(queue: PartitionQueue, code: number, first: number): void {
    const batch = queue.next();
    switch (code) {
      case CODE.NONE:
        queue.batch = undefined;
        this.host.sent(queue, first + batch.records.length);
        batch.records.forEach(({ done }, i) => done(first + i));
        return;
      // The brokers forgot this producer or the topic was recreated, so the batch gets a new identity.
      case CODE.OUT_OF_ORDER_SEQUENCE:
      case CODE.UNKNOWN_PRODUCER_ID:
      case CODE.INVALID_PRODUCER_EPOCH:
        this.renew(batch);
        this.giveBack(queue);
        return;
      default:
        if (isLeaderMoving(code)) {
          this.giveBack(queue);
          return;
        }
        // Refused permanently, such as a record that is too large. Its sequence numbers are free again.
        this.renew(batch);
        for (const { failed } of queue.refuse()) failed(new KafkaError(`cannot publish to ${queue.topic}`, code));
        this.host.sent(queue, -1);
    }
  }

  private renew(batch: Batch): void {
    if (batch.identity === this.identity) this.identity = undefined;
    batch.identity = undefined;
  }

  private giveBack(queue: PartitionQueue): void {
    queue.sending = false;
    this.queues.delete(queue);
    this.host.troubled(queue);
  }
}
