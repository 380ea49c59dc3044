import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { fetchKeyOf, FetchSession } from './fetch-session.js';
import { type KafkaLane } from './kafka-lane.js';
import { CODE, isLeaderMoving, type FetchedPartition } from '../wire/protocol.js';

/** Longest poll. A lane that was just taken or has room again waits for the current poll to end. */
const WAIT_MS = 100;
const SINGLE_LANE_WAIT_MS = 1_000;
const REPLY_BYTES = 8 << 20;
const LEADER_PAUSE_MS = 200;

export interface FetchHost {
  readonly cluster: Cluster;
  /** Purpose of its own connections, because a long poll blocks a connection. */
  readonly purpose: string;
  /** Whether there will never be a second lane. */
  hasSingleLane(): boolean;
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

  constructor(
    private readonly node: number,
    private readonly host: FetchHost,
  ) {
    this.ended = this.run();
  }

  /** Called when a lane has room. */
  wake(): void {
    this.pause.wake();
  }

  /** The caller must have broken off the current poll (`Cluster.drop`). */
  async stop(): Promise<void> {
    this.stopped = true;
    this.pause.wake();
    await this.ended;
  }

  private async run(): Promise<void> {
    const { cluster } = this.host;
    const backoff = new Backoff(RETRY_PAUSES);
    while (!this.stopped) {
      const now = performance.now();
      const held = this.host.lanesOn(this.node);
      const wanted = held.filter((lane) => lane.isWanting && lane.notBefore <= now);
      if (wanted.length === 0) {
        await this.pause.wait(held.some((lane) => lane.isWanting) ? LEADER_PAUSE_MS : undefined);
        continue;
      }
      try {
        await this.poll(wanted);
        backoff.reset();
      } catch (error) {
        this.session.reset();
        if (this.stopped) return;
        cluster.warn('records could not be fetched', error, { broker: this.node });
        await this.pause.wait(backoff.next());
        await this.lookForLeaders();
      }
    }
  }

  private async poll(lanes: readonly KafkaLane[]): Promise<void> {
    const { cluster, purpose } = this.host;
    const reply = await cluster.call(this.node, purpose, 'Fetch', {
      maxWaitTime: this.host.hasSingleLane() ? SINGLE_LANE_WAIT_MS : WAIT_MS,
      minBytes: 1,
      maxBytes: REPLY_BYTES,
      ...this.session.next(lanes),
    });
    if (!this.session.answered(reply)) return;
    const byKey = new Map(lanes.map((lane) => [fetchKeyOf(lane), lane]));
    let moving = false;
    for (const { topicId, partitions } of reply.responses) {
      for (const each of partitions) {
        const lane = byKey.get(fetchKeyOf({ topicId, partition: each.partition }));
        if (lane) moving = (await this.deliver(lane, each)) || moving;
      }
    }
    if (moving) {
      this.session.reset();
      await this.lookForLeaders();
    }
  }

  /** Returns true when the lane's leader must be looked up. */
  private async deliver(lane: KafkaLane, partition: FetchedPartition): Promise<boolean> {
    const { errorCode } = partition;
    if (errorCode === CODE.NONE) {
      lane.fetched(partition);
      return false;
    }
    lane.notBefore = performance.now() + LEADER_PAUSE_MS;
    if (errorCode === CODE.OFFSET_OUT_OF_RANGE) await this.host.outOfRange(lane);
    else if (!isLeaderMoving(errorCode)) {
      this.host.cluster.warn('a lane could not be fetched', `code ${errorCode}`, { lane: lane.name });
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
