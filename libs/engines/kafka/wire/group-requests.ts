import {
  findCoordinatorV4,
  heartbeatV4,
  joinGroupV7,
  leaveGroupV4,
  listGroupsV4,
  offsetCommitV8,
  offsetFetchV8,
  syncGroupV5,
} from '@platformatic/kafka';
import { named, request, unnamed, type Requests } from './request.js';

const GROUP = 0;

/** Requests for groups, their members and their offsets. */
export const groupRequests: Requests<
  | 'FindCoordinator'
  | 'JoinGroup'
  | 'SyncGroup'
  | 'Heartbeat'
  | 'LeaveGroup'
  | 'OffsetCommit'
  | 'OffsetFetch'
  | 'ListGroups'
> = {
  FindCoordinator: request(findCoordinatorV4.api)(
    ({ groupId }) => [GROUP, [groupId]],
    ({ coordinators }) => {
      const { errorCode = -1, nodeId = -1, host = '', port = -1 } = coordinators[0] ?? {};
      return { errorCode, coordinator: { nodeId, host, port } };
    },
  ),
  JoinGroup: request(joinGroupV7.api)(
    ({ groupId, sessionTimeout, rebalanceTimeout, memberId, protocolType, protocol, metadata }) => [
      groupId,
      sessionTimeout,
      rebalanceTimeout,
      memberId,
      null,
      protocolType,
      [{ name: protocol, metadata }],
    ],
    ({ errorCode, generationId, leader, memberId, members }) => ({
      errorCode,
      generationId,
      leaderId: leader,
      memberId: memberId ?? '',
      members: members.map((each) => ({ memberId: each.memberId, metadata: each.metadata ?? Buffer.alloc(0) })),
    }),
  ),
  SyncGroup: request(syncGroupV5.api)(
    ({ groupId, generationId, memberId, protocolType, protocol, assignments }) => [
      groupId,
      generationId,
      memberId,
      null,
      protocolType,
      protocol,
      [...assignments],
    ],
    ({ errorCode, assignment }) => ({ errorCode, assignment }),
  ),
  Heartbeat: request(heartbeatV4.api)(
    ({ groupId, generationId, memberId }) => [groupId, generationId, memberId],
    ({ errorCode }) => ({ errorCode }),
  ),
  LeaveGroup: request(leaveGroupV4.api)(
    ({ groupId, memberId }) => [groupId, [{ memberId }]],
    ({ errorCode, members }) => ({ errorCode: errorCode || (members[0]?.errorCode ?? 0) }),
  ),
  OffsetCommit: request(offsetCommitV8.api)(
    ({ groupId, generationId, memberId, topics }) => [
      groupId,
      generationId,
      memberId,
      null,
      named(topics, ({ partition, offset, epoch, metadata }) => ({
        partitionIndex: partition,
        committedOffset: BigInt(offset),
        committedLeaderEpoch: epoch,
        committedMetadata: metadata,
      })),
    ],
    ({ topics }) => ({
      responses: unnamed(topics, ({ partitionIndex, errorCode }) => ({ partition: partitionIndex, errorCode })),
    }),
  ),
  OffsetFetch: request(offsetFetchV8.api)(
    ({ groupId, topics }) => [
      [
        {
          groupId,
          memberEpoch: -1,
          topics: topics.map(({ topic, partitions }) => ({ name: topic, partitionIndexes: [...partitions] })),
        },
      ],
      false,
    ],
    ({ groups }) => ({
      errorCode: groups[0]?.errorCode ?? -1,
      responses: unnamed(
        groups[0]?.topics ?? [],
        ({ partitionIndex, errorCode, committedOffset, committedLeaderEpoch, metadata }) => ({
          partition: partitionIndex,
          errorCode,
          offset: Number(committedOffset),
          epoch: committedLeaderEpoch,
          metadata: metadata ?? '',
        }),
      ),
    }),
  ),
  ListGroups: request(listGroupsV4.api)(
    () => [[], []],
    ({ errorCode, groups }) => ({ errorCode, groupIds: groups.map(({ groupId }) => groupId) }),
  ),
};
