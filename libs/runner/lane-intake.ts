import { HeardEmits, heardPlaceOf } from './heard-emits.js';
import { InFlightInvocations } from './in-flight-invocations.js';
import { type Invocation, REPEATABLE } from './invocation.js';
import { type LaneState } from './lane-state.js';
import { LaneTracker } from './lane-tracker.js';
import { type RunJournal } from './run-journal.js';

/** What to do with an invocation: run it, finish it without a run because it is done or in flight, or nothing. */
export type Arrival = 'new' | 'repeat' | 'done' | 'ignored';

/**
 * Recognizes repeated invocations of one executable. Four guards are needed, because a repeat may be the same record,
 * another record with the same id, or one of more repeats than the ids that are remembered.
 */
export class LaneIntake {
  /** Recognizes the same record, in flight or done: after a crash the log's own offset is behind the last commit. */
  readonly tracker: LaneTracker;
  /** Recognizes another record with the id of one in flight: the journal knows ids only once they are committed. */
  readonly inFlight = new InFlightInvocations();
  /** Recognizes repeated emits, however many a router routes again. Ticks, hooks and replays have no such place. */
  readonly heard: HeardEmits;

  constructor(
    private readonly executable: string,
    private readonly journal: Pick<RunJournal, 'seen'>,
    lane: Pick<LaneState, 'progress' | 'heard'>,
  ) {
    this.tracker = new LaneTracker(lane.progress);
    this.heard = new HeardEmits(lane.heard);
  }

  /**
   * Returns which ids are in the inbox. It knows ids that any owner committed, of records without a place and of
   * emitters whose progress was forgotten.
   */
  async seen(invocations: readonly Invocation[]): Promise<ReadonlySet<string>> {
    const ids = invocations.filter((each) => REPEATABLE.has(each.headers.kind)).map((each) => each.headers.id);
    return ids.length > 0 ? this.journal.seen({ executable: this.executable }, ids) : new Set();
  }

  /** Admits an invocation, in lane order. Acknowledges a record that is done. */
  admit(invocation: Invocation, seen: ReadonlySet<string>): Arrival {
    const { headers, record, end } = invocation;
    if (!this.tracker.admit(record, end)) {
      if (this.tracker.isDone(record.offset)) invocation.ack();
      return 'ignored';
    }
    const isFirst = this.inFlight.add(invocation);
    const place = heardPlaceOf(headers);
    if (!isFirst || (place && this.heard.isDone(place))) return 'repeat';
    if (seen.has(headers.id)) return 'done';
    if (place) this.heard.admit(place);
    return 'new';
  }
}
