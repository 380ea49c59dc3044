import { createAPI, fetchV13, produceV9, Writer, type Reader } from '@platformatic/kafka';
import { byTopic } from '../lane-names.js';
import { decodeBatches } from './batch-reader.js';
import { encodeBatch } from './batch-writer.js';
import { type Apis, type FetchedPartition, type OfTopicId } from './protocol.js';

type Produce = Apis['Produce'];
type Produced = ReturnType<typeof produceV9.parseResponse>;

const ALL_COPIES = -1;
const NONE = Buffer.alloc(0);

const producing = ({ timeout, producerId, producerEpoch, batches }: Produce['args']): Writer => {
  const topics = byTopic(batches, ({ partition, firstSequence, messages }) => ({
    partition,
    records: encodeBatch(messages, { producerId, producerEpoch, firstSequence }),
  }));
  return Writer.create()
    .appendString(null)
    .appendInt16(ALL_COPIES)
    .appendInt32(timeout)
    .appendArray(topics, (toTopics, { topic, partitions }) => {
      toTopics.appendString(topic).appendArray(partitions, (toPartitions, { partition, records }) => {
        toPartitions.appendInt32(partition).appendBytes(records);
      });
    })
    .appendTaggedFields();
};

/** Produce, with batches that we encode. */
export const produceApi = createAPI<[Produce['args']], Produced>(
  produceV9.api.key,
  produceV9.api.version,
  producing,
  produceV9.parseResponse,
);

export interface Fetched {
  readonly errorCode: number;
  readonly sessionId: number;
  readonly responses: readonly OfTopicId<FetchedPartition>[];
}

const partitionFrom = (reader: Reader): FetchedPartition => {
  const partition = reader.readInt32();
  const errorCode = reader.readInt16();
  const highWatermark = Number(reader.readInt64());
  // The last stable offset and the start of the log.
  reader.skip(16);
  reader.readArray((aborted) => aborted.skip(16));
  // The replica to read from.
  reader.skip(4);
  const records = reader.readNullableBytes();
  return { partition, errorCode, highWatermark, ...decodeBatches(records ?? NONE) };
};

const parseFetched = (_correlation: number, _key: number, _version: number, reader: Reader): Fetched => {
  // How long the broker throttled the answer, in milliseconds.
  reader.readInt32();
  return {
    errorCode: reader.readInt16(),
    sessionId: reader.readInt32(),
    responses: reader.readArray((topic) => ({
      topicId: topic.readUUID(),
      partitions: topic.readArray(partitionFrom),
    })),
  };
};

/** Fetch, with batches that we decode. */
export const fetchApi = createAPI<Parameters<typeof fetchV13.createRequest>, Fetched>(
  fetchV13.api.key,
  fetchV13.api.version,
  fetchV13.createRequest,
  parseFetched,
);
