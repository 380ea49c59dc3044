import { type TickStore } from '../tick-store.js';

/** In-memory TickStore for specs. `failing` makes it reject writes. */
export class InMemoryTicks implements TickStore {
  readonly saved = new Map<string, number>();
  failing = false;
  async load(): Promise<ReadonlyMap<string, number>> {
    return new Map(this.saved);
  }
  async save(ticks: ReadonlyMap<string, number>): Promise<void> {
    if (this.failing) throw new Error('disk full');
    for (const [key, at] of ticks) this.saved.set(key, Math.max(at, this.saved.get(key) ?? 0));
  }
  async drop(sourceId: string): Promise<void> {
    for (const key of this.saved.keys()) if (key.startsWith(`${sourceId}/`)) this.saved.delete(key);
  }
}
