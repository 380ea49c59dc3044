import { HeardEmits, heardPlaceOf } from './heard-emits.js';
import { InFlightInvocations } from './in-flight-invocations.js';
import { type Invocation, REPEATABLE } from './invocation.js';
import { type LaneState } from './lane-state.js';
import { LaneTracker } from './lane-tracker.js';
import { type RunJournal } from './run-journal.js';

/** What an executable does with an invocation: run it, only finish it because it is done or runs already, or nothing. */
export type Arrival = 'new' | 'repeat' | 'done' | 'ignored';

/**
 * Passes over invocations of one executable that came before. Four guards are needed, because a repeat is either the same
 * record, another record with the same id, or one of more repeats than ids are remembered.
 */
export class LaneIntake {
  /** Knows the same record again, in flight or done: the log's own offset is behind the last commit after a crash. */
  readonly tracker: LaneTracker;
  /** Knows another record with the id of one that runs: the journal knows ids only once they are committed. */
  readonly inFlight = new InFlightInvocations();
  /** Knows repeated emits, however many a router routes again. Ticks, hooks and replays have no place among emits. */
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
   * Asks the inbox. It knows ids that were committed, by any owner: those of records without a place, and those of emitters
   * whose progress was forgotten.
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
