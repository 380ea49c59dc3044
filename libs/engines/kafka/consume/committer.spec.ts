import { describe, expect, it } from '@jest/globals';
import { type Cluster } from '../wire/cluster.js';
import { CODE } from '../wire/protocol.js';
import { Committer } from './committer.js';
import { type Agreement } from './membership.js';
import { keyOf, type Commit, type Committed, type Offsets } from './offsets.js';

const LANE = { topic: 't', partition: 0 };
const agreementOf = (self: string, generation: number): Agreement => ({
  self,
  members: ['first', 'second'],
  member: { id: `${self}-id`, generation },
});
const commit = (next: number, holder: string): Commit => ({ ...LANE, next, holder });

/** The offsets of one group as its coordinator keeps them: it refuses commits of a generation that is over. */
class Coordinator {
  generation = 1;
  stored: Commit = commit(0, '');
  /** Called before a commit is checked, as if it had been in transit until then. */
  beforeCommit: () => void = () => undefined;

  readonly offsets = {
    committed: async () => {
      const { next, holder } = this.stored;
      const committed: Committed = { next, holder, topicId: undefined, epoch: -1, incarnation: 0 };
      return new Map([[keyOf(LANE), committed]]);
    },
    commit: async (_: string, { generation }: Agreement['member'], commits: readonly Commit[]) => {
      this.beforeCommit();
      if (generation !== this.generation) return new Map(commits.map((each) => [keyOf(each), CODE.ILLEGAL_GENERATION]));
      this.stored = commits[0] ?? this.stored;
      return new Map<string, number>();
    },
  } as unknown as Offsets;
}

const committerIn = (coordinator: Coordinator, agreement: () => Agreement | undefined, refused = () => undefined) => {
  const cluster = { warn: () => undefined } as unknown as Cluster;
  const { offsets } = coordinator;
  return new Committer({ cluster, offsets, group: 'g', agreement, commitOf: () => undefined, refused });
};

describe('the last commit of a lane', () => {
  it('names no holder and keeps the progress', async () => {
    const coordinator = new Coordinator();
    coordinator.stored = commit(3, 'first');
    await committerIn(coordinator, () => agreementOf('first', 1)).release([commit(7, '')]);
    expect(coordinator.stored).toEqual(commit(7, ''));
  });

  it('is not written over the progress of a successor', async () => {
    const coordinator = new Coordinator();
    coordinator.stored = commit(20, 'second');
    await committerIn(coordinator, () => agreementOf('first', 1)).release([commit(7, '')]);
    expect(coordinator.stored).toEqual(commit(20, 'second'));
  });

  it('that is on its way while the group agrees anew does not reach the successor', async () => {
    const coordinator = new Coordinator();
    coordinator.stored = commit(3, 'first');
    let agreement = agreementOf('first', 1);
    coordinator.beforeCommit = () => {
      coordinator.generation = 2;
      coordinator.stored = commit(20, 'second');
      agreement = agreementOf('first', 2);
    };
    await committerIn(coordinator, () => agreement).release([commit(7, '')]);
    expect(coordinator.stored).toEqual(commit(20, 'second'));
  });

  it('is written under the next agreement when the group agrees anew and no member took the lane', async () => {
    const coordinator = new Coordinator();
    coordinator.stored = commit(3, 'first');
    let agreement = agreementOf('first', 1);
    coordinator.generation = 2;
    const refused = (): undefined => void (agreement = agreementOf('first', 2));
    await committerIn(coordinator, () => agreement, refused).release([commit(7, '')]);
    expect(coordinator.stored).toEqual(commit(7, ''));
  });

  it('is given up by a member that the group has expelled', async () => {
    const coordinator = new Coordinator();
    coordinator.stored = commit(3, 'first');
    await committerIn(coordinator, () => undefined).release([commit(7, '')]);
    expect(coordinator.stored).toEqual(commit(3, 'first'));
  });
});

describe('a claim', () => {
  it('that is on its way while the group agrees anew is not written over the claim of the new owner', async () => {
    const coordinator = new Coordinator();
    let agreement = agreementOf('first', 1);
    let tries = 0;
    coordinator.offsets.commit = async (_, { generation }, commits) => {
      if (++tries === 1) {
        // The group rebalances, and the lane gets another owner.
        agreement = agreementOf('first', 2);
        coordinator.stored = commit(20, 'second');
        return new Map([[keyOf(LANE), CODE.REBALANCE_IN_PROGRESS]]);
      }
      if (generation === 2) coordinator.stored = commits[0] ?? coordinator.stored;
      return new Map(generation === 2 ? [] : [[keyOf(LANE), CODE.ILLEGAL_GENERATION]]);
    };
    const committer = committerIn(coordinator, () => agreement);
    expect([...(await committer.claim([commit(3, 'first')], agreement, 1_000))]).toEqual([]);
    expect(coordinator.stored).toEqual(commit(20, 'second'));
  });
});
