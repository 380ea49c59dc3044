import { Condition } from '#libs/kernel/condition.js';
import { START, type Position, type RecordedEvent } from '#libs/kernel/events.js';

/** Events looked at before a search waits for readers, and between two waits. */
const LOOKED_AT = 1_000;
/** Longest such wait. A reader may stand still, because its consumer does. */
const WAIT_MS = 1_000;

/** Where the log ends for this process: how far it has been searched, and the newest own event found. */
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
   * Position of the newest own event, from the events of the log backwards. The search ends at an own event or where the
   * log is known already. Readers pass the events of others at the server and come towards it. So it waits for them where
   * others have written much, and is never longer than what readers have not passed.
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
