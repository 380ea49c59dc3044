import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { type PartitionId } from '../lane-names.js';
import { failIf } from '../wire/broker-connection.js';
import { EARLIEST, keyOf, type Offsets } from './offsets.js';
import { CODE, isLeaderMoving } from '../wire/protocol.js';
import { storedRecords } from '../records.js';

const PAGE_BYTES = 1 << 20;
/** Bytes after which a read ends, before its limit of records. */
const READ_BYTES = 4 << 20;
const WITHIN_MS = 30_000;
/** Number of requests after which an unknown topic counts as deleted. */
const UNKNOWN = 3;

/** Reads a partition outside of any group. When the topic is deleted during the read, the result ends there. */
export class LaneReader {
  constructor(
    private readonly cluster: Cluster,
    private readonly offsets: Offsets,
  ) {}

  async read(
    lane: { readonly name: string; readonly topic: string },
    partition: PartitionId,
    after: number,
    limit: number,
  ): Promise<readonly StoredRecord[]> {
    const records: StoredRecord[] = [];
    const backoff = new Backoff(RETRY_PAUSES);
    const until = performance.now() + WITHIN_MS;
    let position = after + 1;
    let unknown = 0;
    let bytes = 0;
    while (records.length < limit && bytes < READ_BYTES) {
      const page = await this.page(partition, position);
      if (page === 'gone') break;
      if (page === 'below the log') {
        const first = (await this.offsets.at([partition], EARLIEST)).get(keyOf(partition));
        if (first === undefined || first <= position) break;
        position = first;
        continue;
      }
      if (page === 'moving') {
        if (performance.now() > until)
          throw new EngineUnavailable('Kafka', `lane ${lane.name} has no leader to read from`);
        await pause(backoff.next());
        // Another process may have deleted it, or a broker that has just started may not know it yet.
        if (!(await this.cluster.refreshTopic(partition.topic)) && ++unknown === UNKNOWN) break;
        continue;
      }
      for (const record of storedRecords(lane.name, lane.topic, page.messages, position)) {
        if (records.length < limit) records.push(record);
        bytes += record.size;
        position = record.offset + 1;
      }
      position = Math.max(position, page.next ?? position);
      if (position >= page.end || page.next === undefined) break;
    }
    return records;
  }

  private async page(partition: PartitionId, fetchOffset: number) {
    const known = this.cluster.topic(partition.topic);
    if (!known) return 'gone' as const;
    const leader = known.leaders[partition.partition] ?? -1;
    if (leader < 0) return 'moving' as const;
    const reply = await this.cluster.call(leader, 'read', 'Fetch', {
      sessionId: 0,
      sessionEpoch: -1,
      forgottenTopics: [],
      maxWaitTime: 0,
      minBytes: 0,
      maxBytes: PAGE_BYTES,
      topics: [
        {
          topicId: known.id,
          partitions: [{ partition: partition.partition, fetchOffset, maxBytes: PAGE_BYTES }],
        },
      ],
    });
    failIf(`lane ${keyOf(partition)}`, reply.errorCode);
    const answer = reply.responses[0]?.partitions[0];
    const code = answer?.errorCode ?? CODE.NETWORK_EXCEPTION;
    if (code === CODE.OFFSET_OUT_OF_RANGE) return 'below the log' as const;
    if (isLeaderMoving(code) || !answer) return 'moving' as const;
    failIf(`lane ${keyOf(partition)}`, code);
    return { messages: answer.messages, next: answer.next, end: answer.highWatermark };
  }
}
