import { type FetchBudget } from '../../fetch-budget.js';
import { type PartitionId } from '../lane-names.js';
import { type Cluster } from '../wire/cluster.js';
import { FetchLoop } from './fetch-loop.js';
import { type KafkaLane } from './kafka-lane.js';
import { EARLIEST, keyOf, type Offsets } from './offsets.js';

export interface FetcherHost {
  readonly cluster: Cluster;
  readonly budget: FetchBudget;
  readonly offsets: Pick<Offsets, 'reachable'>;
  /** Undefined or negative while no broker leads the partition. */
  leaderOf(partition: PartitionId): number | undefined;
  /** Releases the lane and claims it again. */
  retake(lane: KafkaLane): void;
  /** The log begins at `to`, and the lane's next record was `from`. */
  skipped(lane: string, from: number, to: number): void;
  /** Lanes that this consumer holds. */
  lanes(): Iterable<KafkaLane>;
}

/** Fetches the records of one consumer's lanes, with one FetchLoop for each broker that leads some of them. */
export class Fetcher {
  private readonly loops = new Map<number, FetchLoop>();
  /** Unique among the consumers of this process. */
  private readonly purpose = `fetch ${++fetchers}`;
  private stopped = false;

  constructor(private readonly host: FetcherHost) {}

  /** Called when a lane is new or has room again. */
  wake(lane: KafkaLane): void {
    const node = this.host.leaderOf(lane);
    if (node !== undefined && node >= 0 && !this.stopped) this.loopOn(node).wake(lane);
  }

  /** Interrupts the polls. Resolves when no loop runs any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.host.cluster.drop(this.purpose);
    await Promise.all([...this.loops.values()].map((loop) => loop.stop()));
  }

  private loopOn(node: number): FetchLoop {
    let loop = this.loops.get(node);
    if (!loop) {
      const { cluster, budget } = this.host;
      loop = new FetchLoop(node, {
        cluster,
        budget,
        purpose: this.purpose,
        lanesOn: (each) => [...this.host.lanes()].filter((lane) => this.host.leaderOf(lane) === each),
        outOfRange: (lane) => this.outOfRange(lane),
      });
      this.loops.set(node, loop);
    }
    return loop;
  }

  private async outOfRange(lane: KafkaLane): Promise<void> {
    // A lane without a leader is looked up at the next poll, so that other lanes do not wait.
    const first = (await this.host.offsets.reachable([lane], EARLIEST)).get(keyOf(lane));
    if (first === undefined || first === lane.position) return;
    if (lane.position > first) {
      // The position is past the end, because the log lost records. Claiming the lane again finds its beginning.
      this.host.retake(lane);
      return;
    }
    this.host.skipped(lane.name, lane.position, first);
    lane.skipTo(first);
    lane.notBefore = 0;
  }
}

let fetchers = 0;
