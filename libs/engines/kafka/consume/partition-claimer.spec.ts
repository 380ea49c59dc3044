import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { REVOKE_MS } from '#libs/stream-log/stream-log.js';
import { type Cluster } from '../wire/cluster.js';
import { LAST_COMMIT_MS, type Committer } from './committer.js';
import { type Agreement } from './membership.js';
import { EARLIEST, keyOf, type Commit, type Offsets } from './offsets.js';
import { PartitionClaimer } from './partition-claimer.js';

const LANE = { topic: 't', partition: 0 };
const SESSION_MS = 30_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('a lane is not taken from a living member before that could hear of it, finish, and write its last commit', async () => {
  const claims: Commit[] = [];
  const agreement: Agreement = { self: 'new', members: ['new', 'old'], member: { id: 'new-id', generation: 2 } };
  const offsets: Pick<Offsets, 'committed' | 'reachable' | 'epochEnds'> = {
    committed: async () =>
      new Map([[keyOf(LANE), { next: 3, holder: 'old', topicId: 'id', epoch: -1, incarnation: 0 }]]),
    reachable: async (_, time) => new Map([[keyOf(LANE), time === EARLIEST ? 0 : 9]]),
    epochEnds: async () => new Map(),
  };
  const claimer = new PartitionClaimer({
    cluster: { topic: () => ({ id: 'id' }), warn: () => undefined } as unknown as Cluster,
    offsets: offsets as Offsets,
    committer: {
      claim: async (all: readonly Commit[]) => {
        claims.push(...all);
        return new Set(all.map(keyOf));
      },
    } as unknown as Committer,
    group: 'g',
    sessionTimeoutMs: SESSION_MS,
    agreement: () => agreement,
    isMine: () => true,
    give: () => undefined,
    review: () => undefined,
  });
  claimer.want([LANE]);
  await jest.advanceTimersByTimeAsync(SESSION_MS + REVOKE_MS + LAST_COMMIT_MS);
  expect(claims).toEqual([]);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(claims).toMatchObject([{ next: 3, holder: 'new' }]);
  await claimer.stop();
});
