import { Backoff } from '#libs/async/backoff.js';
import { endsWithin } from '#libs/async/deadline.js';
import { type LogRecord, type StreamLog } from './stream-log.js';

/** An entry of a store that becomes a record and then leaves the store. */
export interface Outgoing<T> {
  readonly entry: T;
  readonly owner: string;
  readonly record: LogRecord;
}

export interface Written<T> {
  readonly entry: T;
  readonly owner: string;
  /** Null when the topic of its record does not exist. */
  readonly offset: number | null;
}

export interface EntriesOnTheirWayOptions {
  readonly log: Pick<StreamLog, 'publishEach'>;
  /** Called when entries became durable, or their owner may be tried again. */
  readonly changed: () => void;
  readonly onFailure: (error: Error, retryInMs: number) => void;
}

interface Owner {
  /** Entries that are not known to be in the log, and those that are and have not left the store. */
  left: number;
  /** Set when the log refused some of them: how long the owner's entries then stay in the store. */
  retryInMs?: number;
  retry?: NodeJS.Timeout;
}

const PAUSES = { firstMs: 100, longestMs: 5_000 };
/** How long `publish` waits for a lane that cannot be written. */
const PATIENCE_MS = 500;

/** Entries on their way to the log, and owners whose entries must wait, above which no more should be read. */
const MOST = 1_024;

/**
 * Entries of a store that were published and have not left it. No more are read of an owner that has some, which keeps
 * the order of its entries, while those of other owners pass a lane that cannot be written.
 */
export class EntriesOnTheirWay<T> {
  private readonly byOwner = new Map<string, Owner>();
  /** Pauses of owners whose last entries were refused. */
  private readonly backoffs = new Map<string, Backoff>();
  private written: Written<T>[] = [];
  private count = 0;
  private closed = false;

  constructor(private readonly options: EntriesOnTheirWayOptions) {}

  /** Whether so much waits that no more entries should be read. */
  get isFull(): boolean {
    return Math.max(this.count, this.byOwner.size) >= MOST;
  }

  /** Owners of which no more entries may be read. */
  owners(): readonly string[] {
    return [...this.byOwner.keys()];
  }

  /**
   * Resolves when it is known of each entry whether it is durable, or after PATIENCE_MS. Their owners must not be among
   * `owners`.
   */
  async publish(entries: readonly Outgoing<T>[]): Promise<void> {
    if (entries.length > 0) await endsWithin(this.published(entries), PATIENCE_MS);
  }

  /** Entries that must leave the store. Call `removed` then. */
  durable(): readonly Written<T>[] {
    return [...this.written];
  }

  removed(entries: readonly Written<T>[]): void {
    const gone = new Set(entries);
    this.written = this.written.filter((entry) => !gone.has(entry));
    for (const { owner } of entries) this.ended(owner);
  }

  /** Tries no owner again. What is on its way may still come into the log. */
  close(): void {
    this.closed = true;
    for (const { retry } of this.byOwner.values()) clearTimeout(retry);
  }

  private published(entries: readonly Outgoing<T>[]): Promise<void> {
    this.count += entries.length;
    for (const { owner } of entries) this.ownerOf(owner).left++;
    let open = entries.length;
    return new Promise((resolve) => {
      this.options.log.publishEach(
        entries.map(({ record }) => record),
        (index, outcome) => {
          const outgoing = entries[index];
          if (!outgoing) return;
          const { entry, owner } = outgoing;
          if (outcome instanceof Error) this.failed(owner, outcome);
          else this.written.push({ entry, owner, offset: outcome });
          if (--open === 0) resolve();
          this.options.changed();
        },
      );
    });
  }

  private ownerOf(name: string): Owner {
    const owner = this.byOwner.get(name) ?? { left: 0 };
    this.byOwner.set(name, owner);
    return owner;
  }

  private failed(name: string, error: Error): void {
    const owner = this.ownerOf(name);
    if (owner.retryInMs === undefined) {
      const backoff = this.backoffs.get(name) ?? new Backoff(PAUSES);
      this.backoffs.set(name, backoff);
      owner.retryInMs = backoff.next();
      this.options.onFailure(error, owner.retryInMs);
    }
    this.ended(name);
  }

  private ended(name: string): void {
    const owner = this.ownerOf(name);
    this.count--;
    if (--owner.left > 0) return;
    if (owner.retryInMs === undefined) {
      this.backoffs.delete(name);
      this.byOwner.delete(name);
      return;
    }
    if (this.closed) return;
    owner.retry = setTimeout(() => {
      this.byOwner.delete(name);
      this.options.changed();
    }, owner.retryInMs);
  }
}
