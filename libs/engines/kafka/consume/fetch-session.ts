import { byTopicId } from '../lane-names.js';
import { CODE, type Apis } from '../wire/protocol.js';
import { ANY_EPOCH } from '../wire/request.js';

export interface FetchedLane {
  readonly topicId: string;
  readonly partition: number;
}

export interface Wanted extends FetchedLane {
  readonly position: number;
  /** Epoch of the leader that is asked; default: the broker does not compare. */
  readonly leaderEpoch?: number;
}

export const fetchKeyOf = ({ topicId, partition }: FetchedLane): string => `${topicId}/${partition}`;

type Topics = Pick<Apis['Fetch']['args'], 'sessionId' | 'sessionEpoch' | 'topics' | 'forgottenTopics'>;

const PARTITION_BYTES = 1 << 20;

/**
 * An incremental fetch session (KIP-227). The broker keeps the list of partitions, so requests and replies carry only
 * changes. Without it, each long poll of a consumer of 10,000 topics would carry all of their names.
 */
export class FetchSession {
  private id = 0;
  private epoch = 0;
  /** Partitions and positions that the broker knows, by key. */
  private told = new Map<string, Wanted>();
  private asked = new Map<string, Wanted>();

  /** `wanted` is kept, so it must not change. */
  next(wanted: readonly Wanted[]): Topics {
    this.asked = new Map(wanted.map((each) => [fetchKeyOf(each), each]));
    const whole = this.id === 0;
    const changed = whole
      ? [...this.asked.values()]
      : [...this.asked].filter(([key, each]) => !isSame(this.told.get(key), each)).map(([, each]) => each);
    const forgotten = whole ? [] : [...this.told].filter(([key]) => !this.asked.has(key)).map(([, each]) => each);
    return {
      sessionId: this.id,
      sessionEpoch: this.epoch,
      topics: byTopicId(changed, ({ partition, position, leaderEpoch }) => ({
        partition,
        leaderEpoch: leaderEpoch ?? ANY_EPOCH,
        fetchOffset: position,
        maxBytes: PARTITION_BYTES,
      })),
      forgottenTopics: byTopicId(forgotten, ({ partition }) => partition),
    };
  }

  /** Whether the reply is usable. If not, the next request starts a new session. */
  answered(reply: Apis['Fetch']['reply']): boolean {
    if (reply.errorCode !== CODE.NONE) {
      this.reset();
      return false;
    }
    this.told = this.asked;
    // A broker whose session table is full assigns no id. Then every request is a full one.
    this.epoch = reply.sessionId === 0 ? 0 : this.id === reply.sessionId ? nextEpoch(this.epoch) : 1;
    this.id = reply.sessionId;
    return true;
  }

  reset(): void {
    this.id = this.epoch = 0;
    this.told.clear();
  }
}

const nextEpoch = (epoch: number): number => (epoch === 0x7fffffff ? 1 : epoch + 1);
const isSame = (told: Wanted | undefined, asked: Wanted): boolean =>
  told?.position === asked.position && told.leaderEpoch === asked.leaderEpoch;
