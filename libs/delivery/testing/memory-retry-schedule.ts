import { type RetrySchedule, type Waiting } from '../retry-schedule.js';

/** RetrySchedule for the tests of this lib, in memory, with failures on demand. */
export class MemoryRetrySchedule implements RetrySchedule {
  readonly entries = new Map<string, Waiting>();
  /** Awaited before each change: throw or wait here. */
  beforePut: (entries: readonly Waiting[]) => Promise<void> | void = () => undefined;
  beforeRemove: (ids: readonly string[]) => Promise<void> | void = () => undefined;

  async put(entries: readonly Waiting[]): Promise<void> {
    await this.beforePut(entries);
    for (const entry of entries) this.entries.set(entry.id, entry);
  }

  async due(now: number, limit: number): Promise<readonly Waiting[]> {
    return this.sorted()
      .filter(({ dueAt }) => dueAt <= now)
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
    return this.sorted()[0]?.dueAt;
  }

  async countOf(owner: string): Promise<number> {
    return this.sorted().filter((entry) => entry.owner === owner).length;
  }

  bytesOf(owner: string): number {
    let bytes = 0;
    for (const entry of this.entries.values()) {
      if (entry.owner === owner) bytes += Buffer.byteLength(JSON.stringify(entry.record));
    }
    return bytes;
  }

  async *all(): AsyncIterable<Waiting> {
    yield* this.sorted();
  }

  private sorted(): Waiting[] {
    return [...this.entries.values()].sort((a, b) => a.dueAt - b.dueAt);
  }
}
