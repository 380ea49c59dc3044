import { type TopicSelector } from '#libs/stream-log/stream-log.js';
import { isSelected, type PartitionId } from '../lane-names.js';
import { type Cluster } from '../wire/cluster.js';
import { type Agreement } from './membership.js';
import { keyOf } from './offsets.js';
import { ownerOf } from './ownership.js';

/** The partitions that a group consumes, and those that its agreement assigns to this member. */
export class Assignment {
  private agreed: Agreement | undefined;
  /** Whether the agreement assigns a partition to this member, by key. Each lane is hashed once per agreement. */
  private readonly mine = new Map<string, boolean>();

  /** `prefix`: that of all topic names of this installation. */
  constructor(
    private readonly cluster: Pick<Cluster, 'topic' | 'topics'>,
    private readonly prefix: string,
    private readonly selector: TopicSelector,
  ) {}

  /** The group's last agreement; undefined before the first one and after an expulsion. */
  get agreement(): Agreement | undefined {
    return this.agreed;
  }

  set agreement(agreement: Agreement | undefined) {
    this.agreed = agreement;
    this.mine.clear();
  }

  /** Every partition of the selected topics, whichever member owns it. */
  *selected(): Iterable<PartitionId> {
    for (const { name, leaders } of this.cluster.topics()) {
      if (!isSelected(name, this.prefix, this.selector)) continue;
      for (let partition = 0; partition < leaders.length; partition++) yield { topic: name, partition };
    }
  }

  /** False without an agreement, and for a partition that does not exist. */
  isMine(partition: PartitionId): boolean {
    if (!this.agreed || !this.exists(partition)) return false;
    const key = keyOf(partition);
    let isMine = this.mine.get(key);
    if (isMine === undefined) {
      isMine = ownerOf(key, this.agreed.members) === this.agreed.self;
      this.mine.set(key, isMine);
    }
    return isMine;
  }

  exists(partition: PartitionId): boolean {
    return this.leaderOf(partition) !== undefined;
  }

  /** Returns -1 while the partition has no leader; undefined when it does not exist. */
  leaderOf({ topic, partition }: PartitionId): number | undefined {
    return this.cluster.topic(topic)?.leaders[partition];
  }

  /** Whether the lane's topic still exists, and is not another one of the same name. */
  isThere(lane: PartitionId & { readonly topicId: string }): boolean {
    return this.exists(lane) && this.cluster.topic(lane.topic)?.id === lane.topicId;
  }
}
