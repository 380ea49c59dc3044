import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type DueKind } from './due-kinds.js';

/** A record without its topic, which the kind of its entry names when it is published: the layout may have changed. */
export type DueRecord = Omit<LogRecord, 'topic'>;

/**
 * An alarm: a record that is published at a time. It is derived from the state of its owner, which puts it again when in
 * doubt. Whoever gets the record compares it with that state and ignores an alarm that is no longer true.
 */
export interface DueEntry {
  /** Unique; a repeated `put` replaces the entry. Removal is by id alone, so an alarm for another time has another id. */
  readonly id: string;
  /** Resource whose deletion removes the entry: webhook, subscription with a replay, or source. */
  readonly owner: string;
  readonly kind: DueKind;
  /** Epoch milliseconds. */
  readonly dueAt: number;
  readonly record: DueRecord;
}

/** An entry as it was read because it is due. It is waiting, or out when `timesOut` is above 0. */
export interface ReadEntry extends DueEntry {
  /** Epoch milliseconds since which it is due: `dueAt`, or the end of its last lease. */
  readonly since: number;
  /** How often it was set out before. */
  readonly timesOut: number;
}

/** An entry whose record is in the log, and the end of its lease: the time at which it is due again unless removed. */
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
 * Durable store of what is due at a time, ordered by that time (docs/adr/0070). An entry waits; the pump publishes its
 * record and sets it out; the consumer that ends its work removes it. A record that is read twice carries the same ids.
 */
export interface DueStore {
  /** Resolves when durable. An entry that is out and is put again waits again. A repeat changes nothing. */
  put(entries: readonly DueEntry[]): Promise<void>;
  /**
   * Reads entries due by `now`, earliest first, except those of some owners; fewer than `limit` when they are large. They
   * stay until removed.
   */
  dueBy(now: number, limit: number, except?: readonly string[]): Promise<readonly ReadEntry[]>;
  /**
   * Sets entries out: they are due again at a later time, and keep their own due time. Passes over one that was put
   * again, set out or removed since it was read. A repeat changes nothing.
   */
  setOut(outs: readonly Out[]): Promise<void>;
  /** Whether an entry waits or is out. */
  has(id: string): Promise<boolean>;
  /** Idempotent. */
  remove(ids: readonly string[]): Promise<void>;
  removeOwner(owner: string): Promise<void>;
  /** When the earliest entry is due, those that are out included; undefined when empty. */
  nextDueAt(): Promise<number | undefined>;
  countOf(owner: string): Promise<number>;
  /** Headers and own due times of an owner's entries, in any order. */
  waitingOf(owner: string): Promise<readonly WaitingHeaders[]>;
  /** All entries, in any order, for moving an installation. */
  all(): AsyncIterable<DueEntry>;
  /** Calls back when this process has put entries, with their earliest due time. Returns a function that ends it. */
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
