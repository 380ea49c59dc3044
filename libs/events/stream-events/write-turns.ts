/** What waits to write to its client. */
export interface Writing {
  /** Writes a part of what waits. Returns its bytes. */
  writeSome(): number;
}

/** Bytes that are written in one turn of the event loop, and those that a write counts at least. */
const TURN_BYTES = 1 << 20;
const LEAST_BYTES = 1 << 10;

/**
 * Streams write in turns of the event loop, each a part at a time. A large event on hundreds of streams would otherwise
 * be handed to the kernel in one turn, which takes the whole thread for a second.
 */
export class WriteTurns {
  private readonly ready = new Set<Writing>();
  private scheduled = false;

  /** Lets it write soon, once. */
  add(writing: Writing): void {
    this.ready.add(writing);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.scheduled = false;
    let left = TURN_BYTES;
    // What is added meanwhile comes last.
    for (const writing of this.ready) {
      if (left <= 0) break;
      this.ready.delete(writing);
      left -= Math.max(LEAST_BYTES, writing.writeSome());
    }
    const [next] = this.ready;
    if (next) this.add(next);
  }
}
