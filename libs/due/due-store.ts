import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type DueKind } from './due-kinds.js';

/**
 * A record without its topic. The kind of the entry names the topic at publication, because the layout may have
 * changed.
 */
export type DueRecord = Omit<LogRecord, 'topic'>;

/**
 * An alarm: a record that is published at a time. It derives from the state of its owner, which puts it again when in
 * doubt. The consumer of the record compares it with that state, and ignores an alarm that no longer applies.
 */
export interface DueEntry {
  /**
   * Unique: a repeated `put` replaces the entry. Removal is by id alone, so an alarm for another time has another id.
   */
  readonly id: string;
  /** Resource whose deletion removes the entry: webhook, subscription with a replay, or source. */
  readonly owner: string;
  readonly kind: DueKind;
  /** Epoch milliseconds. */
  readonly dueAt: number;
  readonly record: DueRecord;
}

/** A due entry as read. It is waiting, or out when `timesOut` is above 0. */
export interface ReadEntry extends DueEntry {
  /** Epoch milliseconds at which it fell due: `dueAt`, or the end of its last lease. */
  readonly since: number;
  /** How often it was set out before. */
  readonly timesOut: number;
}

/** An entry whose record is in the log, with the end of its lease. Unless removed by then, it is due again. */
export interface Out {
  readonly entry: ReadEntry;
  /** Epoch milliseconds. */
  readonly until: number;
}

export interface WaitingHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly dueAt: number;
}

/**
 * Durable store of entries, ordered by due time (docs/adr/0070). An entry waits until the pump publishes its record and
 * sets it out. The consumer that ends its work removes it. A repeated record carries the same ids.
 */
export interface DueStore {
  /** Resolves when durable. An entry that is out waits again after it is put again. A repeat changes nothing. */
  put(entries: readonly DueEntry[]): Promise<void>;
  /**
   * Reads entries due by `now`, earliest first, except those of the owners in `except`. Returns fewer than `limit` when
   * they are large. The entries stay until they are removed.
   */
  dueBy(now: number, limit: number, except?: readonly string[]): Promise<readonly ReadEntry[]>;
  /**
   * Sets entries out: they are due again at a later time, and keep their own due time. Skips an entry that was put
   * again, set out or removed since it was read. A repeat changes nothing.
   */
  setOut(outs: readonly Out[]): Promise<void>;
  /** Whether an entry waits or is out. */
  has(id: string): Promise<boolean>;
  /** Idempotent. */
  remove(ids: readonly string[]): Promise<void>;
  removeOwner(owner: string): Promise<void>;
  /** Earliest due time of all entries, also of those that are out; undefined when there is none. */
  nextDueAt(): Promise<number | undefined>;
  /** Numbers of the entries of owners, in the order of these, waiting or out. */
  countsOf(owners: readonly string[]): Promise<readonly number[]>;
  /** Headers and own due times of an owner's entries, in any order. */
  waitingOf(owner: string): Promise<readonly WaitingHeaders[]>;
  /** All entries, in any order, for moving an installation. */
  all(): AsyncIterable<DueEntry>;
  /** Calls back with the earliest due time when this process has put entries. Returns a function that stops that. */
  onPut(listener: (dueAt: number) => void): () => void;
}

/** Listeners of one store in one process. */
export class PutListeners {
  private readonly listeners = new Set<(dueAt: number) => void>();

  add(listener: (dueAt: number) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  put(entries: readonly Pick<DueEntry, 'dueAt'>[]): void {
    const earliest = entries.reduce((least, { dueAt }) => Math.min(least, dueAt), Infinity);
    for (const listener of this.listeners) listener(earliest);
  }
}
