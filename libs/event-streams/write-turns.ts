/** A stream that waits to write to its client. */
export interface Writing {
  /** Writes a part of the waiting bytes. Returns their number. */
  writeSome(): number;
}

/** Bytes that are written in one turn of the event loop, and those that a write counts at least. */
const TURN_BYTES = 1 << 20;
const LEAST_BYTES = 1 << 10;

/**
 * Streams write in turns of the event loop, each a part at a time. Otherwise a large event on hundreds of streams would
 * be written in one turn, which blocks the thread for a second.
 */
export class WriteTurns {
  private readonly ready = new Set<Writing>();
  private scheduled = false;

  /** Schedules one write of the stream. */
  add(writing: Writing): void {
    this.ready.add(writing);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.scheduled = false;
    let left = TURN_BYTES;
    // Streams that are added in the meantime write last.
    for (const writing of this.ready) {
      if (left <= 0) break;
      this.ready.delete(writing);
      left -= Math.max(LEAST_BYTES, writing.writeSome());
    }
    const [next] = this.ready;
    if (next) this.add(next);
  }
}
