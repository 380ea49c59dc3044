import { afterEach, describe, expect, it } from '@jest/globals';
import { FetchBudget } from '../../fetch-budget.js';
import { type Cluster } from '../wire/cluster.js';
import { CODE, type Apis, type FetchedPartition } from '../wire/protocol.js';
import { Fetcher } from './fetcher.js';
import { KafkaLane } from './kafka-lane.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Poll {
  readonly node: number;
  readonly topics: readonly string[];
  readonly maxBytes: number;
  readonly epochs: readonly (number | undefined)[];
  readonly waitMs: number;
  readonly answer: (partition: Partial<FetchedPartition>) => void;
}

const fetchers: Fetcher[] = [];
afterEach(async () => {
  await Promise.all(fetchers.splice(0).map((each) => each.stop()));
});

/** A fetcher of one lane per topic, with brokers whose answers the test provides. */
const fetcherOf = (
  leaders: Readonly<Record<string, number>>,
  first = 0,
  budget = new FetchBudget(),
  absent = new Set<string>(),
) => {
  const polls: Poll[] = [];
  const warnings: string[] = [];
  const retaken: string[] = [];
  const skips: (readonly [lane: string, from: number, to: number])[] = [];
  const waiting = new Set<(error: Error) => void>();
  const call = (node: number, _: string, __: string, args: Apis['Fetch']['args']) =>
    new Promise((resolve, reject) => {
      waiting.add(reject);
      const topics = args.topics.map(({ topicId }) => topicId);
      const answer: Poll['answer'] = (partition) =>
        resolve({
          errorCode: CODE.NONE,
          sessionId: 0,
          responses: topics.map((topicId) => ({
            topicId,
            partitions: [{ partition: 0, errorCode: CODE.NONE, highWatermark: 0, messages: [], ...partition }],
          })),
        });
      const epochs = args.topics.flatMap(({ partitions }) => partitions.map(({ leaderEpoch }) => leaderEpoch));
      polls.push({ node, topics, epochs, waitMs: args.maxWaitTime, maxBytes: args.maxBytes, answer });
    });
  const cluster = {
    call,
    drop: () => waiting.forEach((reject) => reject(new Error('dropped'))),
    warn: (text: string) => warnings.push(text),
    refresh: () => Promise.resolve(),
    epochOf: ({ topic }: { topic: string }) => (topic === 'a' ? 7 : -1),
  };
  const options = {
    group: 'g',
    topics: { prefix: '' },
    maxBatch: 10,
    maxUnacked: 10,
    handler: () => Promise.resolve(),
  };
  const host = {
    wanting: () => undefined,
    committed: () => undefined,
    failed: () => undefined,
    inDoubt: () => undefined,
  };
  const lanes = Object.keys(leaders).map(
    (topic) =>
      new KafkaLane(
        { name: topic, shortTopic: topic, topic, topicId: topic, partition: 0 },
        { next: 5, end: 5, epoch: -1, incarnation: 0 },
        options,
        budget,
        host,
      ),
  );
  const fetcher = new Fetcher({
    // The loops use these methods only.
    cluster: cluster as unknown as Cluster,
    budget,
    offsets: {
      reachable: (partitions) => Promise.resolve(new Map(partitions.map(({ topic }) => [`${topic}/0`, first]))),
    },
    leaderOf: ({ topic }) => leaders[topic],
    retake: (lane) => retaken.push(lane.name),
    skipped: (...skip) => skips.push(skip),
    lanes: () => lanes.filter(({ topic }) => !absent.has(topic)),
  });
  fetchers.push(fetcher);
  return { fetcher, lanes, polls, warnings, retaken, skips, budget };
};

describe('Fetcher', () => {
  it('polls each broker for the lanes that it leads', async () => {
    const { fetcher, lanes, polls } = fetcherOf({ a: 1, b: 2, c: 1, d: -1 });
    for (const lane of lanes) fetcher.wake(lane);
    await turn();
    expect(polls.map(({ node, topics }) => [node, topics])).toEqual([
      [1, ['a', 'c']],
      [2, ['b']],
    ]);
  });

  it('asks for what the budget leaves, and for nothing while it leaves nothing', async () => {
    const { fetcher, lanes, polls, budget } = fetcherOf({ a: 1, b: 2 }, 0, new FetchBudget(1 << 20));
    budget.take((1 << 20) - 70_000);
    for (const lane of lanes) fetcher.wake(lane);
    await turn();
    // The requested bytes of a poll count until its answer is read.
    expect(polls.map(({ node, maxBytes }) => [node, maxBytes])).toEqual([
      [1, 64 << 10],
      [2, 70_000 - (64 << 10)],
    ]);
    expect(budget.free).toBe(0);
    for (const { answer } of polls) answer({});
    await turn();
    await turn();
    expect(polls).toHaveLength(4);
    budget.take(1 << 20);
    for (const { answer } of polls) answer({});
    await turn();
    await turn();
    expect(polls).toHaveLength(4);
    budget.give(1 << 20);
    await turn();
    await turn();
    expect(polls).toHaveLength(6);
  });

  it('names the epoch of the leader, so that a broker that leads no more tells so instead of answering as a follower', async () => {
    const { fetcher, lanes, polls } = fetcherOf({ a: 1, b: 1 });
    for (const lane of lanes) fetcher.wake(lane);
    await turn();
    expect(polls[0]?.epochs).toEqual([7, -1]);
  });

  it('names no epoch to brokers that have not known it for long, because they were restored from a copy', async () => {
    const { fetcher, lanes, polls } = fetcherOf({ a: 1 });
    const [lane] = lanes;
    if (!lane) throw new Error('no lane');
    fetcher.wake(lane);
    await turn();
    polls[0]?.answer({ errorCode: CODE.UNKNOWN_LEADER_EPOCH });
    await turn();
    expect(lane.epochRefusedSince).toBeGreaterThan(0);
    lane.epochRefusedSince = performance.now() - 11_000;
    lane.notBefore = 0;
    fetcher.wake(lane);
    await turn();
    expect(polls.map(({ epochs }) => epochs)).toEqual([[7], [-1]]);
  });

  it('polls long once nothing comes, and breaks that off for a lane that is not in the poll', async () => {
    const absent = new Set(['b']);
    const { fetcher, lanes, polls, warnings } = fetcherOf({ a: 1, b: 1 }, 0, new FetchBudget(), absent);
    fetcher.wake(lanes[0]!);
    await turn();
    polls[0]?.answer({});
    await turn();
    expect(polls[1]?.waitMs).toBeGreaterThan(polls[0]?.waitMs ?? 0);
    fetcher.wake(lanes[0]!);
    await turn();
    expect(polls).toHaveLength(2);
    absent.clear();
    fetcher.wake(lanes[1]!);
    await turn();
    expect(polls[2]).toMatchObject({ topics: ['a', 'b'], waitMs: polls[0]?.waitMs });
    expect(warnings).toEqual([]);
  });

  it('polls no more once it is stopped', async () => {
    const { fetcher, lanes, polls, warnings } = fetcherOf({ a: 1 });
    fetcher.wake(lanes[0]!);
    await turn();
    await fetcher.stop();
    fetcher.wake(lanes[0]!);
    await turn();
    expect(polls).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['whose next record was dropped goes on at the first one, and reports it', 9, [['a', 5, 9]], []],
    ['that is past the end is taken again', 2, [], ['a']],
  ])('a lane %s', async (_, first, skipped, again) => {
    const { fetcher, lanes, polls, skips, retaken } = fetcherOf({ a: 1 }, first);
    fetcher.wake(lanes[0]!);
    await turn();
    polls[0]?.answer({ errorCode: CODE.OFFSET_OUT_OF_RANGE });
    await turn();
    expect([skips, retaken]).toEqual([skipped, again]);
    // It continues at the first record at once. A lane that is claimed again keeps its position.
    expect([lanes[0]?.position, polls.length]).toEqual(again.length === 0 ? [first, 2] : [5, 1]);
  });
});
