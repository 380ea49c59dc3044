import { InFlightMap } from '#libs/kernel/in-flight-map.js';
import { type Invocation, REPEATABLE } from './invocation.js';

/** Unacknowledged invocations of a source's lane. They are few, because the log bounds the records in flight. */
export class InFlightInvocations {
  private readonly byOffset = new InFlightMap<number, Invocation>();
  /** When the run of an invocation began, in epoch milliseconds, by offset. */
  private readonly begun = new InFlightMap<number, number>();
  /** Offset of each running invocation of a repeatable kind, by id. */
  private readonly offsetById = new Map<string, number>();

  get size(): number {
    return this.byOffset.size;
  }

  /** Returns false when an invocation of the same id is already in flight, so this one is a repeat. */
  add(invocation: Invocation): boolean {
    const { headers, record } = invocation;
    this.byOffset.set(record.offset, invocation);
    if (!REPEATABLE.has(headers.kind)) return true;
    if (this.offsetById.has(headers.id)) return false;
    this.offsetById.set(headers.id, record.offset);
    return true;
  }

  /** Notes that the run of an invocation begins. */
  begin({ record }: Invocation, at: number): void {
    if (this.byOffset.has(record.offset)) this.begun.set(record.offset, at);
  }

  /** Notes that a run has not begun after all. */
  putBack({ record }: Invocation): void {
    this.begun.delete(record.offset);
  }

  /** Undefined for an invocation that waits for its run. */
  begunAt({ record }: Invocation): number | undefined {
    return this.begun.get(record.offset);
  }

  values(): IterableIterator<Invocation> {
    return this.byOffset.values();
  }

  remove({ headers, record }: Invocation): void {
    this.byOffset.delete(record.offset);
    this.begun.delete(record.offset);
    if (this.offsetById.get(headers.id) === record.offset) this.offsetById.delete(headers.id);
  }

  /** Removes and returns all invocations, in lane order. */
  clear(): readonly Invocation[] {
    const all = [...this.byOffset.values()].sort((a, b) => a.record.offset - b.record.offset);
    this.byOffset.clear();
    this.begun.clear();
    this.offsetById.clear();
    return all;
  }
}
