import {
  type DueRetry,
  type HandOut,
  type RetrySchedule,
  type ScheduledRetry,
  type WaitingHeaders,
} from '../retry-schedule.js';

/** In-memory RetrySchedule for the tests of this lib, with failures on demand. */
export class InMemoryRetrySchedule implements RetrySchedule {
  readonly entries = new Map<string, DueRetry>();
  /** Number of entries that were not handed out. */
  get notHandedOut(): number {
    return this.sorted().filter(({ handedOut }) => handedOut === 0).length;
  }
  /** Awaited before each change: throw or wait here. */
  beforePut: (entries: readonly ScheduledRetry[]) => Promise<void> | void = () => undefined;
  beforeHandOut: (handOuts: readonly HandOut[]) => Promise<void> | void = () => undefined;
  beforeRemove: (ids: readonly string[]) => Promise<void> | void = () => undefined;

  async put(entries: readonly ScheduledRetry[]): Promise<void> {
    await this.beforePut(entries);
    for (const { id, owner, dueAt, record } of entries)
      this.entries.set(id, { id, owner, dueAt, record, since: dueAt, handedOut: 0 });
  }

  async handOut(handOuts: readonly HandOut[]): Promise<void> {
    await this.beforeHandOut(handOuts);
    for (const { entry, until } of handOuts) {
      const stored = this.entries.get(entry.id);
      if (stored?.since !== entry.since) continue;
      this.entries.set(entry.id, { ...stored, since: until, handedOut: stored.handedOut + 1 });
    }
  }

  async has(id: string): Promise<boolean> {
    return this.entries.has(id);
  }

  async due(now: number, limit: number, except: readonly string[] = []): Promise<readonly DueRetry[]> {
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
    for (const { id, owner, dueAt, record } of this.sorted()) yield { id, owner, dueAt, record };
  }

  private sorted(): DueRetry[] {
    return [...this.entries.values()].sort((a, b) => a.since - b.since);
  }
}
