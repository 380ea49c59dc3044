/** Requests of the Kafka protocol as used by this engine, with the decoded replies. Offsets are decimal text. */

export interface PartitionOf<P> {
  readonly topic: string;
  readonly partitions: readonly P[];
}

export interface ProduceMessage {
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timestamp: number;
}

export interface FetchedMessage {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | readonly Buffer[]>>;
}

export interface FetchedPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly messages: readonly FetchedMessage[];
}

export interface ConfigEntry {
  readonly name: string;
  readonly value: string;
}

interface Failed {
  readonly errorCode: number;
}
interface PartitionFailed extends Failed {
  readonly partition: number;
}
interface TopicErrors {
  readonly topicErrors: readonly (Failed & { readonly topic: string; readonly errorMessage?: string | null })[];
}

export interface Apis {
  Metadata: {
    /** An empty list asks for all topics. */
    args: { topics: readonly string[]; allowAutoTopicCreation: false };
    reply: {
      readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[];
      readonly controllerId: number;
      readonly topicMetadata: readonly {
        readonly topicErrorCode: number;
        readonly topic: string;
        readonly partitionMetadata: readonly { readonly partitionId: number; readonly leader: number }[];
      }[];
    };
  };
  Produce: {
    args: {
      acks: -1;
      timeout: number;
      producerId: string;
      producerEpoch: number;
      topicData: readonly PartitionOf<{
        readonly partition: number;
        readonly firstSequence: number;
        readonly messages: readonly ProduceMessage[];
      }>[];
    };
    reply: {
      readonly topics: readonly {
        readonly topicName: string;
        readonly partitions: readonly (PartitionFailed & { readonly baseOffset: string })[];
      }[];
    };
  };
  InitProducerId: {
    args: { transactionalId: null; transactionTimeout: number };
    reply: Failed & { readonly producerId: string; readonly producerEpoch: number };
  };
  Fetch: {
    args: {
      replicaId: -1;
      isolationLevel: 1;
      maxWaitTime: number;
      minBytes: number;
      maxBytes: number;
      sessionId: number;
      sessionEpoch: number;
      topics: readonly PartitionOf<{
        readonly partition: number;
        readonly fetchOffset: number;
        readonly maxBytes: number;
      }>[];
      forgottenTopics: readonly PartitionOf<number>[];
      rackId: '';
    };
    reply: Failed & {
      readonly sessionId: number;
      readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedPartition[] }[];
    };
  };
  ListOffsets: {
    args: {
      replicaId: -1;
      isolationLevel: 1;
      topics: readonly PartitionOf<{ readonly partition: number; readonly timestamp: number }>[];
    };
    reply: { readonly responses: readonly PartitionOf<PartitionFailed & { readonly offset: string }>[] };
  };
  GroupCoordinator: {
    args: { groupId: string; coordinatorType: 0 };
    reply: Failed & { readonly coordinator: { readonly nodeId: number; readonly host: string; readonly port: number } };
  };
  JoinGroup: {
    args: {
      groupId: string;
      sessionTimeout: number;
      rebalanceTimeout: number;
      memberId: string;
      protocolType: string;
      groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[];
    };
    reply: Failed & {
      readonly generationId: number;
      readonly leaderId: string;
      readonly memberId: string;
      readonly members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[];
    };
  };
  SyncGroup: {
    args: {
      groupId: string;
      generationId: number;
      memberId: string;
      groupAssignment: readonly { readonly memberId: string; readonly memberAssignment: Buffer }[];
    };
    reply: Failed & { readonly memberAssignment: Buffer };
  };
  Heartbeat: { args: { groupId: string; groupGenerationId: number; memberId: string }; reply: Failed };
  LeaveGroup: { args: { groupId: string; memberId: string }; reply: Failed & { readonly members?: readonly Failed[] } };
  OffsetCommit: {
    args: {
      groupId: string;
      groupGenerationId: number;
      memberId: string;
      topics: readonly PartitionOf<{
        readonly partition: number;
        readonly offset: number;
        readonly metadata: string;
      }>[];
    };
    reply: { readonly responses: readonly PartitionOf<PartitionFailed>[] };
  };
  OffsetFetch: {
    args: { groupId: string; topics: readonly PartitionOf<{ readonly partition: number }>[] };
    reply: Failed & {
      readonly responses: readonly PartitionOf<
        PartitionFailed & { readonly offset: string; readonly metadata: string | null }
      >[];
    };
  };
  ListGroups: {
    args: object;
    reply: Failed & { readonly groups: readonly { readonly groupId: string; readonly protocolType: string }[] };
  };
  CreateTopics: {
    args: {
      timeout: number;
      topics: readonly {
        readonly topic: string;
        readonly numPartitions: number;
        readonly replicationFactor: number;
        readonly configEntries: readonly ConfigEntry[];
      }[];
    };
    reply: TopicErrors;
  };
  DeleteTopics: { args: { timeout: number; topics: readonly string[] }; reply: TopicErrors };
  DeleteRecords: {
    args: {
      timeout: number;
      topics: readonly PartitionOf<{ readonly partition: number; readonly offset: number }>[];
    };
    reply: { readonly topics: readonly PartitionOf<PartitionFailed>[] };
  };
  DescribeConfigs: {
    args: {
      resources: readonly { readonly type: number; readonly name: string; readonly configNames: readonly string[] }[];
    };
    reply: {
      readonly resources: readonly (Failed & {
        readonly resourceName: string;
        readonly configEntries: readonly { readonly configName: string; readonly configValue: string | null }[];
      })[];
    };
  };
  AlterConfigs: {
    args: {
      resources: readonly {
        readonly type: number;
        readonly name: string;
        readonly configEntries: readonly ConfigEntry[];
      }[];
    };
    reply: { readonly resources: readonly (Failed & { readonly errorMessage: string | null })[] };
  };
}

export type Api = keyof Apis;

/** Resource type of a topic, in requests on configurations. */
export const TOPIC_RESOURCE = 2;

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
  MEMBER_ID_REQUIRED: 79,
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
