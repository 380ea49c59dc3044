/** Requests of the Kafka protocol as used by this engine, and their replies. Topics have their full names here. */

export interface OfTopic<P> {
  readonly topic: string;
  readonly partitions: readonly P[];
}

/** Newer requests name a topic by the id from its creation, which differs for a topic that was created again. */
export interface OfTopicId<P> {
  readonly topicId: string;
  readonly partitions: readonly P[];
}

export interface ProduceMessage {
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timestamp: number;
}

export interface ProduceBatch {
  readonly topic: string;
  readonly partition: number;
  readonly firstSequence: number;
  readonly messages: readonly ProduceMessage[];
}

export interface FetchedMessage {
  readonly offset: number;
  readonly timestamp: number;
  /** Leader epoch in which the record was appended. */
  readonly epoch: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [Buffer | null, Buffer | null])[];
}

export interface FetchedPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: number;
  readonly messages: readonly FetchedMessage[];
  /** The offset after the last batch; undefined when there was none. Batches may hold no message for us. */
  readonly next: number | undefined;
}

export interface ConfigEntry {
  readonly name: string;
  readonly value: string;
}

interface Failed {
  readonly errorCode: number;
}
interface FailedWith extends Failed {
  readonly errorMessage: string | null;
}
interface PartitionFailed extends Failed {
  readonly partition: number;
}

export interface Apis {
  Metadata: {
    /** Null asks for all topics. */
    args: { readonly topics: readonly string[] | null };
    reply: {
      readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[];
      readonly controllerId: number;
      readonly topics: readonly (Failed & {
        readonly topic: string;
        readonly topicId: string;
        readonly partitions: readonly {
          readonly partition: number;
          /** -1 while there is none. */
          readonly leader: number;
          readonly epoch: number;
          /** Brokers that have a copy, in sync or not. */
          readonly copies: number;
        }[];
      })[];
    };
  };
  Produce: {
    /** Waits for all in-sync replicas. */
    args: {
      readonly timeout: number;
      readonly producerId: string;
      readonly producerEpoch: number;
      readonly batches: readonly ProduceBatch[];
    };
    reply: { readonly topics: readonly OfTopic<PartitionFailed & { readonly baseOffset: number }>[] };
  };
  InitProducerId: { args: object; reply: Failed & { readonly producerId: string; readonly producerEpoch: number } };
  Fetch: {
    args: {
      readonly maxWaitTime: number;
      readonly minBytes: number;
      readonly maxBytes: number;
      readonly sessionId: number;
      readonly sessionEpoch: number;
      readonly topics: readonly OfTopicId<{
        readonly partition: number;
        /** The broker refuses the request when it leads another epoch. Default: it does not compare. */
        readonly leaderEpoch?: number;
        readonly fetchOffset: number;
        readonly maxBytes: number;
      }>[];
      readonly forgottenTopics: readonly OfTopicId<number>[];
    };
    reply: Failed & {
      readonly sessionId: number;
      readonly responses: readonly OfTopicId<FetchedPartition>[];
    };
  };
  ListOffsets: {
    args: { readonly topics: readonly OfTopic<{ readonly partition: number; readonly timestamp: number }>[] };
    reply: { readonly responses: readonly OfTopic<PartitionFailed & { readonly offset: number }>[] };
  };
  OffsetForLeaderEpoch: {
    args: { readonly topics: readonly OfTopic<{ readonly partition: number; readonly epoch: number }>[] };
    /** The newest epoch up to the requested one, and its end; -1 for both when there is none. */
    reply: {
      readonly responses: readonly OfTopic<PartitionFailed & { readonly epoch: number; readonly endOffset: number }>[];
    };
  };
  FindCoordinator: {
    args: { readonly groupId: string };
    reply: Failed & { readonly coordinator: { readonly nodeId: number; readonly host: string; readonly port: number } };
  };
  JoinGroup: {
    args: {
      readonly groupId: string;
      readonly sessionTimeout: number;
      readonly rebalanceTimeout: number;
      readonly memberId: string;
      readonly protocolType: string;
      readonly protocol: string;
      readonly metadata: Buffer;
    };
    reply: Failed & {
      readonly generationId: number;
      readonly leaderId: string;
      readonly memberId: string;
      readonly members: readonly { readonly memberId: string; readonly metadata: Buffer }[];
    };
  };
  SyncGroup: {
    args: {
      readonly groupId: string;
      readonly generationId: number;
      readonly memberId: string;
      readonly protocolType: string;
      readonly protocol: string;
      readonly assignments: readonly { readonly memberId: string; readonly assignment: Buffer }[];
    };
    reply: Failed & { readonly assignment: Buffer };
  };
  Heartbeat: {
    args: { readonly groupId: string; readonly generationId: number; readonly memberId: string };
    reply: Failed;
  };
  LeaveGroup: { args: { readonly groupId: string; readonly memberId: string }; reply: Failed };
  OffsetCommit: {
    args: {
      readonly groupId: string;
      readonly generationId: number;
      readonly memberId: string;
      readonly topics: readonly OfTopic<{
        readonly partition: number;
        readonly offset: number;
        /** Leader epoch of the last record before the offset; -1 when unknown. */
        readonly epoch: number;
        readonly metadata: string;
      }>[];
    };
    reply: { readonly responses: readonly OfTopic<PartitionFailed>[] };
  };
  OffsetFetch: {
    args: { readonly groupId: string; readonly topics: readonly OfTopic<number>[] };
    reply: Failed & {
      readonly responses: readonly OfTopic<
        PartitionFailed & { readonly offset: number; readonly epoch: number; readonly metadata: string }
      >[];
    };
  };
  ListGroups: { args: object; reply: Failed & { readonly groupIds: readonly string[] } };
  DeleteRecords: {
    args: {
      readonly timeout: number;
      readonly topics: readonly OfTopic<{ readonly partition: number; readonly offset: number }>[];
    };
    reply: { readonly topics: readonly OfTopic<PartitionFailed>[] };
  };
  CreateTopic: {
    args: {
      readonly timeout: number;
      readonly topic: string;
      readonly partitions: number;
      readonly copies: number;
      readonly entries: readonly ConfigEntry[];
    };
    reply: FailedWith;
  };
  DeleteTopic: { args: { readonly timeout: number; readonly topic: string }; reply: FailedWith };
  DescribeTopicConfigs: {
    args: { readonly topics: readonly string[]; readonly names: readonly string[] };
    reply: {
      readonly topics: readonly (FailedWith & { readonly topic: string; readonly entries: readonly ConfigEntry[] })[];
    };
  };
  IncrementalAlterConfigs: {
    /** Sets these entries of each topic and leaves the others as they are. */
    args: { readonly topics: readonly { readonly topic: string; readonly entries: readonly ConfigEntry[] }[] };
    reply: { readonly topics: readonly (FailedWith & { readonly topic: string })[] };
  };
}

export type Api = keyof Apis;

/** Error codes that this engine acts on. */
export const CODE = {
  NONE: 0,
  OFFSET_OUT_OF_RANGE: 1,
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  LEADER_NOT_AVAILABLE: 5,
  NOT_LEADER: 6,
  REQUEST_TIMED_OUT: 7,
  REPLICA_NOT_AVAILABLE: 9,
  NETWORK_EXCEPTION: 13,
  COORDINATOR_LOADING: 14,
  COORDINATOR_NOT_AVAILABLE: 15,
  NOT_COORDINATOR: 16,
  NOT_ENOUGH_REPLICAS: 19,
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: 20,
  ILLEGAL_GENERATION: 22,
  UNKNOWN_MEMBER_ID: 25,
  REBALANCE_IN_PROGRESS: 27,
  TOPIC_ALREADY_EXISTS: 36,
  NOT_CONTROLLER: 41,
  OUT_OF_ORDER_SEQUENCE: 45,
  INVALID_PRODUCER_EPOCH: 47,
  STORAGE_ERROR: 56,
  UNKNOWN_PRODUCER_ID: 59,
  FENCED_LEADER_EPOCH: 74,
  UNKNOWN_LEADER_EPOCH: 75,
  OFFSET_NOT_AVAILABLE: 78,
  MEMBER_ID_REQUIRED: 79,
  UNKNOWN_TOPIC_ID: 100,
  INCONSISTENT_TOPIC_ID: 103,
} as const;

const LEADER_MOVES: ReadonlySet<number> = new Set([
  CODE.UNKNOWN_TOPIC_OR_PARTITION,
  CODE.LEADER_NOT_AVAILABLE,
  CODE.NOT_LEADER,
  CODE.REQUEST_TIMED_OUT,
  CODE.REPLICA_NOT_AVAILABLE,
  CODE.NETWORK_EXCEPTION,
  CODE.NOT_ENOUGH_REPLICAS,
  CODE.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
  CODE.STORAGE_ERROR,
  CODE.FENCED_LEADER_EPOCH,
  CODE.UNKNOWN_LEADER_EPOCH,
  CODE.OFFSET_NOT_AVAILABLE,
  CODE.UNKNOWN_TOPIC_ID,
  CODE.INCONSISTENT_TOPIC_ID,
]);

/** The partition is being moved, created or deleted. Refresh the metadata and retry. */
export const isLeaderMoving = (code: number): boolean => LEADER_MOVES.has(code);

/** The coordinator of a group moved or is not ready. */
export const isCoordinatorMoving = (code: number): boolean =>
  code === CODE.COORDINATOR_LOADING ||
  code === CODE.COORDINATOR_NOT_AVAILABLE ||
  code === CODE.NOT_COORDINATOR ||
  code === CODE.REQUEST_TIMED_OUT;

/** The group no longer knows this member. */
export const isExpelled = (code: number): boolean =>
  code === CODE.UNKNOWN_MEMBER_ID || code === CODE.ILLEGAL_GENERATION;
