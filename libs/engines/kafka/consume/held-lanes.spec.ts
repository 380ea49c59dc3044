import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ConsumeOptions, type LaneBatch } from '#libs/stream-log/stream-log.js';
import { FetchBudget } from '../../fetch-budget.js';
import { HeldLanes } from './held-lanes.js';
import { type KafkaLane } from './kafka-lane.js';
import { type Commit } from './offsets.js';

const TOPIC = 'x.t';
const PARTITION = { topic: TOPIC, partition: 0 };

let batches: LaneBatch[];
/** What happened, in order. */
let log: string[];
let endCommit: () => void;
beforeEach(() => {
  batches = [];
  log = [];
  endCommit = () => undefined;
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const TOPIC_TOLD = { name: TOPIC, id: 'topic-1', leaders: [1] };
const heldWith = (options: Partial<ConsumeOptions> = {}): HeldLanes =>
  new HeldLanes(
    'x.',
    {
      group: 'g',
      topics: { prefix: '' },
      maxBatch: 10,
      maxUnacked: 100,
      handler: async (batch) => void batches.push(batch),
      ...options,
    },
    new FetchBudget(),
    {
      wanting: () => undefined,
      committed: (key) => log.push(`committed ${key}`),
      inDoubt: () => undefined,
      commitLast: (commits: readonly Commit[]) => {
        log.push(`last ${commits.map(({ topic, next, holder }) => `${topic}@${next} by "${holder}"`).join()}`);
        return new Promise<void>((resolve) => (endCommit = resolve));
      },
      released: () => log.push('released'),
    },
  );

/** A held lane that has delivered records 0 to 2. */
const usedLane = async (held: HeldLanes): Promise<KafkaLane> => {
  held.hold(TOPIC_TOLD, 0, { next: 0, end: 0, epoch: -1, incarnation: 0 });
  const lane = held.get(`${TOPIC}/0`)!;
  const messages = [0, 1, 2].map((offset) => ({
    offset,
    timestamp: 1,
    epoch: 0,
    key: Buffer.from('k'),
    value: Buffer.from('{}'),
    headers: [],
  }));
  lane.fetched({ partition: 0, errorCode: 0, highWatermark: 5, messages, next: 3 }, 0);
  await turn();
  return lane;
};

describe('HeldLanes', () => {
  it('counts what is unread in lanes by their names', async () => {
    const held = heldWith();
    await usedLane(held);
    held.hold({ name: 'x.many', id: 'many-1', leaders: [1, 1, 1] }, 1, { next: 4, end: 10, epoch: -1, incarnation: 0 });
    expect([...held.values()].map(({ name }) => name)).toEqual(['t', 'many/1']);
    expect(held.named('t')?.backlog).toBe(5);
    expect(held.named('many/1')?.backlog).toBe(6);
    expect(held.backlog()).toBe(11);
    expect([held.named('t/0'), held.named('many'), held.named('x.t')]).toEqual([undefined, undefined, undefined]);
  });

  it('keeps a lane that is held already', async () => {
    const held = heldWith();
    const lane = await usedLane(held);
    held.hold(TOPIC_TOLD, 0, { next: 0, end: 0, epoch: -1, incarnation: 0 });
    expect(held.get(`${TOPIC}/0`)).toBe(lane);
  });

  it('releases a lane once the consumer has given it up, with a last commit of what it acknowledged meanwhile', async () => {
    let giveUp: () => void = () => undefined;
    const held = heldWith({ onRevoked: () => new Promise((resolve) => (giveUp = resolve)) });
    const lane = await usedLane(held);
    held.release(lane);
    expect([batches[0]?.revoked(), [...held.values()], held.has(PARTITION)]).toEqual([true, [], true]);
    batches[0]?.ack(0);
    batches[0]?.ack(1);
    giveUp();
    await turn();
    expect(log.at(-1)).toBe('last x.t@2 by ""');
    expect(held.has(PARTITION)).toBe(true);
    endCommit();
    await turn();
    expect(log.at(-1)).toBe('released');
    expect(held.has(PARTITION)).toBe(false);
    batches[0]?.ack(2);
    expect(lane.next).toBe(2);
  });

  it('releases a lane of which nothing was handed over without telling the consumer', async () => {
    const revoked: string[] = [];
    const held = heldWith({ onRevoked: async (lane) => void revoked.push(lane) });
    held.hold(TOPIC_TOLD, 0, { next: 7, end: 7, epoch: -1, incarnation: 0 });
    held.release(held.get(`${TOPIC}/0`)!);
    await turn();
    expect(log).toEqual(['last x.t@7 by ""']);
    expect(revoked).toEqual([]);
  });

  it('commits nothing of a lane whose topic is gone', async () => {
    const held = heldWith({ onRevoked: async (lane) => void log.push(`revoked ${lane}`) });
    const lane = await usedLane(held);
    held.withdraw(lane);
    batches[0]?.ack(0);
    await turn();
    expect(log).toEqual(['revoked t', 'released']);
    expect(lane.next).toBe(0);
  });

  it('counts a failure of onRevoked, and releases the lane', async () => {
    const held = heldWith({ onRevoked: () => Promise.reject(new Error('broken')) });
    held.release(await usedLane(held));
    await turn();
    expect(log).toEqual(['last x.t@0 by ""']);
    expect(held.failures).toBe(1);
  });

  it('loses all lanes without a commit, and waits for those being released', async () => {
    const held = heldWith({ onRevoked: async (lane) => void log.push(`revoked ${lane}`) });
    held.release(await usedLane(held));
    held.hold({ name: 'x.other', id: 'other-1', leaders: [1] }, 0, { next: 0, end: 0, epoch: -1, incarnation: 0 });
    let lost = false;
    const losing = held.loseAll().then(() => (lost = true));
    await turn();
    expect(lost).toBe(false);
    expect([...held.values()]).toEqual([]);
    endCommit();
    await losing;
    expect(log).toEqual(['revoked t', 'last x.t@0 by ""', 'released']);
  });

  it('stops when the handlers have ended, and commits then without calling onRevoked', async () => {
    let endHandler: () => void = () => undefined;
    const held = heldWith({
      handler: (batch) => {
        batches.push(batch);
        return new Promise((resolve) => (endHandler = resolve));
      },
      onRevoked: async (lane) => void log.push(`revoked ${lane}`),
    });
    await usedLane(held);
    let stopped = false;
    const stopping = held.stop().then(() => (stopped = true));
    await turn();
    expect([stopped, batches[0]?.revoked()]).toEqual([false, true]);
    for (const offset of [0, 1, 2]) batches[0]?.ack(offset);
    endHandler();
    await stopping;
    const released = held.releaseAll();
    endCommit();
    await released;
    expect(log.filter((each) => !each.startsWith('committed'))).toEqual(['last x.t@3 by ""']);
    expect([...held.values()]).toEqual([]);
  });

  it('commits nothing at its end of lanes that it lost while it stopped', async () => {
    const held = heldWith();
    await usedLane(held);
    await held.stop();
    await held.loseAll();
    const released = held.releaseAll();
    endCommit();
    await released;
    expect(log).toEqual(['last ']);
  });
});
