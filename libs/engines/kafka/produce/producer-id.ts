import { type Cluster } from '../wire/cluster.js';
import { failIf } from '../wire/broker-connection.js';
import { type PartitionId } from '../lane-names.js';
import { keyOf } from '../consume/offsets.js';

const SEQUENCES = 2 ** 31;

/** An idempotent producer as known to the brokers, which drop a batch whose sequence they already have. */
export class ProducerIdentity {
  private readonly sequences = new Map<string, number>();

  constructor(
    readonly id: string,
    readonly epoch: number,
  ) {}

  static async begin(cluster: Cluster): Promise<ProducerIdentity> {
    const reply = await cluster.callAny('InitProducerId', {});
    failIf('a producer id', reply.errorCode);
    return new ProducerIdentity(reply.producerId, reply.producerEpoch);
  }

  /** Reserves sequence numbers for `count` records and returns the first. */
  reserve(partition: PartitionId, count: number): number {
    const key = keyOf(partition);
    const first = this.sequences.get(key) ?? 0;
    this.sequences.set(key, (first + count) % SEQUENCES);
    return first;
  }
}
