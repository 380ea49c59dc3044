import { Condition } from '#libs/kernel/condition.js';
import { START, type Position, type RecordedEvent } from '#libs/kernel/events.js';

/** Events looked at before a search waits for readers, and between two waits. */
const LOOKED_AT = 1_000;
/** Longest such wait, because a reader may stand still with its consumer. */
const WAIT_MS = 1_000;

/** End of the log for this process: the searched part, and the newest own event in it. */
export class KnownEnd {
  /** All own events up to here are known to be at or before `newest`. */
  private upTo: Position = START;
  private newest: Position = START;
  private readers = 0;
  private readonly moved = new Condition();

  /** The newest own event at or before `upTo` is at `newest`. Returns the newest one of all. */
  learn(upTo: Position, newest: Position): Position {
    if (newest > this.newest) this.newest = newest;
    if (upTo > this.upTo) {
      this.upTo = upTo;
      this.moved.wake();
    }
    return this.newest;
  }

  /** Counts a reader that goes through the log and calls `learn` on its way, until the returned function is called. */
  readerStarts(): () => void {
    this.readers++;
    return () => void this.readers--;
  }

  /**
   * Finds the newest own event by searching the log backwards. The search ends at an own event or at the known part of
   * the log. Readers skip the events of other programs at the server and advance towards it. So the search waits for
   * them where others have written much, and never covers more than readers have not passed.
   */
  async search(
    backwards: AsyncIterable<{ readonly position: Position; readonly event: RecordedEvent | undefined }>,
  ): Promise<Position> {
    let end: Position | undefined;
    let count = 0;
    for await (const { position, event } of backwards) {
      end ??= position;
      if (event) return this.learn(end, event.position);
      if (position <= this.upTo) break;
      if (++count % LOOKED_AT === 0 && this.readers > 0) {
        await this.moved.within(WAIT_MS, () => position <= this.upTo);
      }
    }
    return this.learn(end ?? START, START);
  }
}
