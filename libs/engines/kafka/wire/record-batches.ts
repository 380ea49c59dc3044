import { IS_CONTROL, NumericMap, type MessageRecord, type RecordsBatch } from '@platformatic/kafka';
import { completeCodecs } from './codecs.js';
import { type FetchedMessage, type FetchedPartition, type ProduceBatch } from './protocol.js';

completeCodecs();

/** The messages of a batch as the client library encodes them. It makes one batch of all messages of a partition. */
export const produced = ({ topic, partition, messages }: ProduceBatch): MessageRecord[] =>
  messages.map(({ key, value, headers, timestamp }) => ({
    topic,
    partition,
    key: Buffer.from(key),
    value: Buffer.from(value),
    headers: new Map(Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
    timestamp: BigInt(timestamp),
  }));

/** The first sequence number of each batch, under the key that the client library uses. */
export const sequencesOf = (batches: readonly ProduceBatch[]): NumericMap =>
  new NumericMap(batches.map(({ topic, partition, firstSequence }) => [`${topic}:${partition}`, firstSequence]));

/** Leaves out the marks that transactions of other programs may have written. */
export const recordsOf = (batches: readonly RecordsBatch[]): Pick<FetchedPartition, 'messages' | 'next'> => {
  const messages: FetchedMessage[] = [];
  let next: number | undefined;
  for (const { firstOffset, lastOffsetDelta, firstTimestamp, partitionLeaderEpoch, attributes, records } of batches) {
    const first = Number(firstOffset);
    const timestamp = Number(firstTimestamp);
    next = first + lastOffsetDelta + 1;
    if ((attributes & IS_CONTROL) !== 0) continue;
    for (const { offsetDelta, timestampDelta, key, value, headers } of records) {
      messages.push({
        offset: first + offsetDelta,
        timestamp: timestamp + Number(timestampDelta),
        epoch: partitionLeaderEpoch,
        key,
        value,
        headers,
      });
    }
  }
  return { messages, next };
};
