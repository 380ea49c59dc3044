import { createAPI, offsetForLeaderEpochV4, type Reader } from '@platformatic/kafka';

export interface EpochEnd {
  readonly partition: number;
  readonly errorCode: number;
  readonly epoch: number;
  readonly endOffset: number;
}

type Answer = readonly { readonly topic: string; readonly partitions: readonly EpochEnd[] }[];

/** The library reads the partition before the error code. Brokers send the error code first. */
const parseAnswer = (_correlation: number, _key: number, _version: number, reader: Reader): Answer => {
  // How long the broker throttled the answer, in milliseconds.
  reader.readInt32();
  return reader.readArray((topic) => ({
    topic: topic.readString(),
    partitions: topic.readArray((each) => {
      const errorCode = each.readInt16();
      const partition = each.readInt32();
      return { errorCode, partition, epoch: each.readInt32(), endOffset: Number(each.readInt64()) };
    }),
  }));
};

const { key, version } = offsetForLeaderEpochV4.api;

/** OffsetForLeaderEpoch, with the library's request. */
export const epochEndsApi = createAPI<Parameters<typeof offsetForLeaderEpochV4.createRequest>, Answer>(
  key,
  version,
  offsetForLeaderEpochV4.createRequest,
  parseAnswer,
);
