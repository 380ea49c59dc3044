import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { type FetchBudget } from '../../fetch-budget.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { fetchKeyOf, FetchSession, type Wanted } from './fetch-session.js';
import { type KafkaLane } from './kafka-lane.js';
import { CODE, isLeaderMoving, type FetchedPartition } from '../wire/protocol.js';

/** Longest poll while records arrive or lanes have no room. A lane with new room waits for the current poll to end. */
const WAIT_MS = 100;
/** Longest poll of all lanes after one without records. A lane with new room interrupts it. */
const CALM_WAIT_MS = 5_000;
/** Time after which a leader must know its epoch. */
const EPOCH_REFUSED_MS = 10_000;
/** Bytes requested at once: at first, at most, and at least. */
const FIRST_ASK = 1 << 20;
const MOST_ASKED = 8 << 20;
const LEAST_ASKED = 64 << 10;
/** Part of the budget that the open polls of one loop may occupy. */
const POLLS_PART = 32;
const LEADER_PAUSE_MS = 200;

export interface FetchHost {
  readonly cluster: Cluster;
  readonly budget: FetchBudget;
  /** Purpose of the loop's connections, because a long poll blocks a connection. */
  readonly purpose: string;
  /** Held lanes whose leader is this broker. */
  lanesOn(node: number): readonly KafkaLane[];
  /** The log no longer has the lane's next record. */
  outOfRange(lane: KafkaLane): Promise<void>;
}

/** Long polls of one consumer at one broker. One request covers all of its lanes that have room. */
export class FetchLoop {
  private readonly pause = new WakeablePause();
  private readonly session = new FetchSession();
  private readonly ended: Promise<void>;
  private stopped = false;
  private asks = FIRST_ASK;
  private readonly roomAgain = (): void => this.pause.wake();
  /** The last poll brought no records. */
  private calm = false;
  /** Lanes of the current long poll. */
  private longPoll: ReadonlySet<KafkaLane> | undefined;

  constructor(
    private readonly node: number,
    private readonly host: FetchHost,
  ) {
    this.ended = this.run();
  }

  /** Called when a lane is new or has room. */
  wake(lane: KafkaLane): void {
    this.pause.wake();
    if (!this.longPoll || this.longPoll.has(lane)) return;
    this.longPoll = undefined;
    this.host.cluster.drop(`${this.node} ${this.host.purpose}`);
  }

  /** The caller must have interrupted the current poll (`Cluster.drop`). */
  async stop(): Promise<void> {
    this.stopped = true;
    this.host.budget.forget(this.roomAgain);
    this.pause.wake();
    await this.ended;
  }

  private async run(): Promise<void> {
    const { cluster, budget } = this.host;
    const backoff = new Backoff(RETRY_PAUSES);
    while (!this.stopped) {
      const now = performance.now();
      const held = this.host.lanesOn(this.node);
      const wanting = held.filter((lane) => lane.wantsMore());
      const wanted = wanting.filter((lane) => lane.notBefore <= now);
      if (wanted.length === 0) {
        await this.pause.wait(wanting.length > 0 ? LEADER_PAUSE_MS : undefined);
        continue;
      }
      const room = this.room();
      if (room <= 0) {
        budget.wait(this.roomAgain);
        await this.pause.wait();
        continue;
      }
      const isLong = this.calm && wanted.length === held.length;
      this.longPoll = isLong ? new Set(wanted) : undefined;
      try {
        await this.poll(wanted, room, isLong ? CALM_WAIT_MS : WAIT_MS);
        backoff.reset();
      } catch (error) {
        this.session.reset();
        if (this.stopped) return;
        const isBrokenOff = isLong && this.longPoll === undefined;
        this.calm = false;
        if (isBrokenOff) continue;
        cluster.warn('records could not be fetched', error, { broker: this.node });
        await this.pause.wait(backoff.next());
        await this.lookForLeaders();
      } finally {
        this.longPoll = undefined;
      }
    }
  }

  /** Bytes that a poll may request now. */
  private room(): number {
    const { budget } = this.host;
    const part = Math.max(LEAST_ASKED, Math.floor(budget.limit / POLLS_PART));
    return Math.min(this.asks, part, budget.free);
  }

  /** The answer counts before it arrives: `room` bytes until its records are decoded, and then their size. */
  private async poll(lanes: readonly KafkaLane[], room: number, maxWaitTime: number): Promise<void> {
    const { budget } = this.host;
    budget.take(room);
    try {
      await this.fetch(lanes, room, maxWaitTime);
    } finally {
      budget.give(room);
    }
  }

  private async fetch(lanes: readonly KafkaLane[], room: number, maxWaitTime: number): Promise<void> {
    const { cluster, purpose } = this.host;
    const asked = new Map(lanes.map((lane) => [fetchKeyOf(lane), { lane, from: lane.position }]));
    // The broker returns at least one batch, however large.
    const reply = await cluster.call(this.node, purpose, 'Fetch', {
      maxWaitTime,
      minBytes: 1,
      maxBytes: room,
      ...this.session.next(lanes.map((lane) => this.wanted(lane))),
    });
    this.calm = reply.responses.every(({ partitions }) => partitions.every(isEmpty));
    if (!this.session.answered(reply)) return;
    let moving = false;
    let taken = 0;
    for (const { topicId, partitions } of reply.responses) {
      for (const each of partitions) {
        const found = asked.get(fetchKeyOf({ topicId, partition: each.partition }));
        if (!found) continue;
        if (each.errorCode === CODE.NONE) taken += found.lane.fetched(each, found.from);
        else moving = (await this.failed(found.lane, each.errorCode)) || moving;
      }
    }
    // Compressed batches are larger than they were on the wire.
    if (taken > 2 * room) this.asks = Math.max(LEAST_ASKED, Math.floor((room * room) / taken));
    else if (2 * taken > this.asks) this.asks = Math.min(MOST_ASKED, 2 * this.asks);
    if (moving) {
      this.session.reset();
      await this.lookForLeaders();
    }
  }

  private wanted(lane: KafkaLane): Wanted {
    const { topicId, partition, position, epochRefusedSince = Infinity } = lane;
    // A broker that was restored from a copy continues from an older epoch, so it would refuse the known one
    // indefinitely.
    const isRestored = performance.now() - epochRefusedSince > EPOCH_REFUSED_MS;
    return { topicId, partition, position, ...(!isRestored && { leaderEpoch: this.host.cluster.epochOf(lane) }) };
  }

  /** Returns true when the lane's leader must be looked up. */
  private async failed(lane: KafkaLane, errorCode: number): Promise<boolean> {
    const now = performance.now();
    lane.notBefore = now + LEADER_PAUSE_MS;
    if (errorCode === CODE.UNKNOWN_LEADER_EPOCH) lane.epochRefusedSince ??= now;
    else lane.epochRefusedSince = undefined;
    if (errorCode === CODE.OFFSET_OUT_OF_RANGE) await this.host.outOfRange(lane);
    else if (!isLeaderMoving(errorCode)) {
      this.host.cluster.warn('a lane could not be fetched', new Error(`code ${errorCode}`), { lane: lane.name });
    }
    return isLeaderMoving(errorCode);
  }

  private async lookForLeaders(): Promise<void> {
    try {
      await this.host.cluster.refresh();
    } catch (error) {
      this.host.cluster.warn('leaders could not be looked up', error);
    }
  }
}

const isEmpty = ({ errorCode, messages, next }: FetchedPartition): boolean =>
  errorCode === CODE.NONE && messages.length === 0 && next === undefined;
