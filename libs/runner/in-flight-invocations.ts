import { type Invocation, REPEATABLE } from './run-commit.js';

/** What was taken of a source's lane and is not yet acknowledged: few, as many as the log hands over at a time. */
export class InFlightInvocations {
  private readonly byOffset = new Map<number, Invocation>();
  /** Of those that may come twice: the offset of the one that runs. */
  private readonly offsetById = new Map<string, number>();

  get size(): number {
    return this.byOffset.size;
  }

  has(offset: number): boolean {
    return this.byOffset.has(offset);
  }

  /** False when another one of the same id is in hand: this is a repeat of it. */
  add(invocation: Invocation): boolean {
    const { headers, record } = invocation;
    this.byOffset.set(record.offset, invocation);
    if (!REPEATABLE.has(headers.kind)) return true;
    if (this.offsetById.has(headers.id)) return false;
    this.offsetById.set(headers.id, record.offset);
    return true;
  }

  remove({ headers, record }: Invocation): void {
    this.byOffset.delete(record.offset);
    if (this.offsetById.get(headers.id) === record.offset) this.offsetById.delete(headers.id);
  }

  /** Empties it; returns what was in it, in lane order. */
  clear(): readonly Invocation[] {
    const all = [...this.byOffset.values()].sort((a, b) => a.record.offset - b.record.offset);
    this.byOffset.clear();
    this.offsetById.clear();
    return all;
  }
}
