import {
  type DueEntry,
  type DueStore,
  type Out,
  PutListeners,
  type ReadEntry,
  type WaitingHeaders,
} from '../due-store.js';

/** In-memory DueStore for specs, with failures on demand. */
export class InMemoryDueStore implements DueStore {
  readonly entries = new Map<string, ReadEntry>();
  private readonly listeners = new PutListeners();
  /** Number of entries that are not out. */
  get waiting(): number {
    return this.sorted().filter(({ timesOut }) => timesOut === 0).length;
  }
  /** Awaited before each change: throw or wait here. */
  beforePut: (entries: readonly DueEntry[]) => Promise<void> | void = () => undefined;
  beforeSetOut: (outs: readonly Out[]) => Promise<void> | void = () => undefined;
  beforeRemove: (ids: readonly string[]) => Promise<void> | void = () => undefined;

  async put(entries: readonly DueEntry[]): Promise<void> {
    await this.beforePut(entries);
    for (const { id, owner, kind, dueAt, record } of entries)
      this.entries.set(id, { id, owner, kind, dueAt, record, since: dueAt, timesOut: 0 });
    if (entries.length > 0) this.listeners.put(entries);
  }

  async setOut(outs: readonly Out[]): Promise<void> {
    await this.beforeSetOut(outs);
    for (const { entry, until } of outs) {
      const stored = this.entries.get(entry.id);
      if (stored?.since !== entry.since) continue;
      this.entries.set(entry.id, { ...stored, since: until, timesOut: stored.timesOut + 1 });
    }
  }

  async has(id: string): Promise<boolean> {
    return this.entries.has(id);
  }

  async dueBy(now: number, limit: number, except: readonly string[] = []): Promise<readonly ReadEntry[]> {
    return this.sorted()
      .filter(({ since, owner }) => since <= now && !except.includes(owner))
      .slice(0, limit);
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.beforeRemove(ids);
    for (const id of ids) this.entries.delete(id);
  }

  async removeOwner(owner: string): Promise<void> {
    for (const [id, entry] of this.entries) if (entry.owner === owner) this.entries.delete(id);
  }

  async nextDueAt(): Promise<number | undefined> {
    return this.sorted()[0]?.since;
  }

  async countsOf(owners: readonly string[]): Promise<readonly number[]> {
    return owners.map((owner) => this.sorted().filter((entry) => entry.owner === owner).length);
  }

  async waitingOf(owner: string): Promise<readonly WaitingHeaders[]> {
    const entries = this.sorted().filter((entry) => entry.owner === owner);
    return entries.map(({ record, dueAt }) => ({ headers: record.headers, dueAt }));
  }

  bytesOf(owner: string): number {
    const entries = this.sorted().filter((entry) => entry.owner === owner);
    return entries.reduce((sum, { record }) => sum + Buffer.byteLength(JSON.stringify(record)), 0);
  }

  async *all(): AsyncIterable<DueEntry> {
    for (const { id, owner, kind, dueAt, record } of this.sorted()) yield { id, owner, kind, dueAt, record };
  }

  onPut(listener: (dueAt: number) => void): () => void {
    return this.listeners.add(listener);
  }

  private sorted(): ReadEntry[] {
    return [...this.entries.values()].sort((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1));
  }
}
