import {
  deleteRecordsV2,
  fetchV13,
  initProducerIdV4,
  listOffsetsV7,
  metadataV12,
  produceV9,
} from '@platformatic/kafka';
import { epochEndsApi } from './epoch-ends.js';
import { produced, recordsOf, sequencesOf } from './record-batches.js';
import { ANY_EPOCH, named, NO_REPLICA, request, unnamed, type Requests } from './request.js';

const READ_COMMITTED = 1;
const TRANSACTION_MS = 60_000;

/** Requests for records, their offsets and their brokers. */
export const dataRequests: Requests<
  'Metadata' | 'Produce' | 'InitProducerId' | 'Fetch' | 'ListOffsets' | 'OffsetForLeaderEpoch' | 'DeleteRecords'
> = {
  Metadata: request(metadataV12.api)(
    ({ topics }) => [topics && [...topics], false, false],
    ({ brokers, controllerId, topics }) => ({
      brokers,
      controllerId,
      topics: topics.map(({ errorCode, name, topicId, partitions }) => ({
        errorCode,
        topic: name ?? '',
        topicId,
        partitions: partitions.map(({ partitionIndex, leaderId, leaderEpoch, replicaNodes }) => ({
          partition: partitionIndex,
          leader: leaderId,
          epoch: leaderEpoch,
          copies: replicaNodes.length,
        })),
      })),
    }),
  ),
  Produce: request(produceV9.api)(
    ({ timeout, producerId, producerEpoch, batches }) => [
      -1,
      timeout,
      batches.flatMap(produced),
      { producerId: BigInt(producerId), producerEpoch, sequences: sequencesOf(batches), compression: 'none' },
    ],
    (received) => ({
      topics: (typeof received === 'boolean' ? [] : received.responses).map(({ name, partitionResponses }) => ({
        topic: name,
        partitions: partitionResponses.map(({ index, errorCode, baseOffset }) => ({
          partition: index,
          errorCode,
          baseOffset: Number(baseOffset),
        })),
      })),
    }),
  ),
  InitProducerId: request(initProducerIdV4.api)(
    () => [null, TRANSACTION_MS, -1n, -1],
    ({ errorCode, producerId, producerEpoch }) => ({ errorCode, producerId: String(producerId), producerEpoch }),
  ),
  Fetch: request(fetchV13.api)(
    ({ maxWaitTime, minBytes, maxBytes, sessionId, sessionEpoch, topics, forgottenTopics }) => [
      maxWaitTime,
      minBytes,
      maxBytes,
      READ_COMMITTED,
      sessionId,
      sessionEpoch,
      topics.map(({ topicId, partitions }) => ({
        topicId,
        partitions: partitions.map(
          ({ partition, leaderEpoch = ANY_EPOCH, fetchOffset, maxBytes: partitionMaxBytes }) => ({
            partition,
            currentLeaderEpoch: leaderEpoch,
            fetchOffset: BigInt(fetchOffset),
            lastFetchedEpoch: ANY_EPOCH,
            partitionMaxBytes,
          }),
        ),
      })),
      forgottenTopics.map(({ topicId, partitions }) => ({ topic: topicId, partitions: [...partitions] })),
      '',
    ],
    ({ errorCode, sessionId, responses }) => ({
      errorCode,
      sessionId,
      responses: responses.map(({ topicId, partitions }) => ({
        topicId,
        partitions: partitions.map(({ partitionIndex, errorCode: code, highWatermark, records }) => ({
          partition: partitionIndex,
          errorCode: code,
          highWatermark: Number(highWatermark),
          ...recordsOf(records ?? []),
        })),
      })),
    }),
  ),
  ListOffsets: request(listOffsetsV7.api)(
    ({ topics }) => [
      NO_REPLICA,
      READ_COMMITTED,
      named(topics, ({ partition, timestamp }) => ({
        partitionIndex: partition,
        currentLeaderEpoch: ANY_EPOCH,
        timestamp: BigInt(timestamp),
      })),
    ],
    ({ topics }) => ({
      responses: unnamed(topics, ({ partitionIndex, errorCode, offset }) => ({
        partition: partitionIndex,
        errorCode,
        offset: Number(offset),
      })),
    }),
  ),
  OffsetForLeaderEpoch: request(epochEndsApi)(
    ({ topics }) => [
      NO_REPLICA,
      named(topics, ({ partition, epoch }) => ({
        partitionIndex: partition,
        currentLeaderEpoch: ANY_EPOCH,
        leaderEpoch: epoch,
      })),
    ],
    (responses) => ({ responses }),
  ),
  DeleteRecords: request(deleteRecordsV2.api)(
    ({ timeout, topics }) => [
      named(topics, ({ partition, offset }) => ({ partitionIndex: partition, offset: BigInt(offset) })),
      timeout,
    ],
    ({ topics }) => ({
      topics: unnamed(topics, ({ partitionIndex, errorCode }) => ({ partition: partitionIndex, errorCode })),
    }),
  ),
};
