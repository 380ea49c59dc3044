import { type FetchBudget } from '../../fetch-budget.js';
import { type CommitWriter } from './commit-writer.js';
import { type Fetcher } from './fetcher.js';
import { type Group } from './group.js';
import { Lane, type LaneHost } from './lane.js';
import { type TailCache } from './tail-cache.js';
import { type Topic } from './topic.js';
import { LANES_PER_TURN, nextTurn } from '../yielding.js';

export interface SharingHost {
  readonly tails: TailCache;
  readonly budget: FetchBudget;
  readonly fetcher: Fetcher;
  readonly commits: CommitWriter;
  wake(lane: Lane): void;
  /** Number and bytes of the topic's records after an offset. */
  count(topic: Topic, after: number): { readonly n: number; readonly bytes: number };
  /** Highest offset known to be durable. */
  durable(): number;
  exists(topic: Topic): boolean;
}

/** Assigns the lanes of a group to its consumer and revokes them. */
export class LaneAssigner {
  constructor(private readonly host: SharingHost) {}

  /** Assigns to the group's consumer the lanes that it selects and does not have. */
  async spread(group: Group, topics: readonly Topic[]): Promise<void> {
    for (let i = 0; i < topics.length; i++) {
      const topic = topics[i];
      if (topic && this.host.exists(topic)) this.give(group, topic);
      if (i % LANES_PER_TURN === LANES_PER_TURN - 1) await nextTurn();
    }
  }

  give(group: Group, topic: Topic): void {
    if (group.lanes.has(topic.id)) return;
    const member = group.memberFor(topic);
    if (!member) return;
    const committed = group.committedOf(topic);
    const { n: backlog, bytes } = topic.lastId <= committed ? { n: 0, bytes: 0 } : this.host.count(topic, committed);
    const host: LaneHost = {
      tails: this.host.tails,
      budget: this.host.budget,
      fetch: (lane) => this.host.fetcher.add(lane),
      wake: (lane) => this.host.wake(lane),
      acknowledged: () => {
        group.backlog--;
      },
      committed: (lane, offset) => {
        group.committed.set(lane.topic.id, offset);
        this.host.commits.add(group, lane.topic);
      },
      failed: () => member.countFailure(),
    };
    const lane = new Lane(topic, member.options, backlog === 0 ? this.host.durable() : committed, host);
    lane.backlog = backlog;
    lane.bytes = bytes;
    group.backlog += backlog;
    group.lanes.set(topic.id, lane);
    member.lanes.set(topic.name, lane);
    topic.lanes.add(lane);
    if (backlog > 0) this.host.wake(lane);
  }

  /**
   * Withdraws a lane whose topic is gone. Notifies its consumer without waiting for it, because the lane gets no other
   * owner.
   */
  withdraw(group: Group, lane: Lane): void {
    const told = lane.window.isRevoked;
    const owner = [...group.members].find((member) => member.lanes.get(lane.topic.name) === lane);
    this.detach(group, lane);
    if (!told) void owner?.revoke(lane);
  }

  detach(group: Group, lane: Lane): void {
    lane.detach();
    this.host.fetcher.remove(lane);
    group.backlog -= lane.backlog;
    group.lanes.delete(lane.topic.id);
    for (const member of group.members) {
      if (member.lanes.get(lane.topic.name) === lane) member.retire(lane);
    }
    lane.topic.lanes.delete(lane);
    this.host.tails.trim(lane.topic);
  }
}
