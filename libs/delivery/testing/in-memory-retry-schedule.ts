import { type RetrySchedule, type ScheduledRetry, type WaitingHeaders } from '../retry-schedule.js';

/** In-memory RetrySchedule for the tests of this lib, with failures on demand. */
export class InMemoryRetrySchedule implements RetrySchedule {
  readonly entries = new Map<string, ScheduledRetry>();
  /** Awaited before each change: throw or wait here. */
  beforePut: (entries: readonly ScheduledRetry[]) => Promise<void> | void = () => undefined;
  beforeRemove: (ids: readonly string[]) => Promise<void> | void = () => undefined;

  async put(entries: readonly ScheduledRetry[]): Promise<void> {
    await this.beforePut(entries);
    for (const entry of entries) this.entries.set(entry.id, entry);
  }

  async due(now: number, limit: number, except: readonly string[] = []): Promise<readonly ScheduledRetry[]> {
    return this.sorted()
      .filter(({ dueAt, owner }) => dueAt <= now && !except.includes(owner))
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

  async waitingOf(owner: string): Promise<readonly WaitingHeaders[]> {
    const entries = this.sorted().filter((entry) => entry.owner === owner);
    return entries.map(({ record, dueAt }) => ({ headers: record.headers, dueAt }));
  }

  bytesOf(owner: string): number {
    let bytes = 0;
    for (const entry of this.entries.values()) {
      if (entry.owner === owner) bytes += Buffer.byteLength(JSON.stringify(entry.record));
    }
    return bytes;
  }

  async *all(): AsyncIterable<ScheduledRetry> {
    yield* this.sorted();
  }

  private sorted(): ScheduledRetry[] {
    return [...this.entries.values()].sort((a, b) => a.dueAt - b.dueAt);
  }
}
