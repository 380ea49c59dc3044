import { shareOfHeap } from '#libs/kernel/heap-share.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';

/**
 * Approximate memory of a record in bytes besides its texts: the objects of the record and its headers, and their list
 * entries.
 */
const RECORD_OVERHEAD = 600;
/**
 * Fractions of the limit: the most and the least that one lane may hold, and the fraction of the free bytes that bounds
 * its share.
 */
const MOST_OF_LIMIT = 64;
const LEAST_OF_LIMIT = 1_024;
const PART_OF_FREE = 32;

/** Waiting calls for each turn of the event loop. */
const TURNS_AT_ONCE = 8;
/** Time that a lane may keep fetched records for a busy handler while other lanes wait for room. */
const IDLE_MS = 1_000;

export const costOf = ({ size }: Pick<StoredRecord, 'size'>): number => size + RECORD_OVERHEAD;

/** Records that were fetched and not delivered, which can be fetched again. */
export interface Sheddable {
  /** When the lane last delivered records (process uptime, milliseconds). */
  readonly movedAt: number;
  /** Drops the records and releases their bytes. */
  shed(): void;
}

/** Usage of the budget in bytes. */
export interface BudgetUsage {
  readonly held: number;
  readonly limit: number;
}

/**
 * Limits the bytes of the records that a process holds for its consumers, over all lanes and groups. Requested, fetched
 * and unacknowledged records count. Each lane is also limited to a share, which shrinks with the free room, so that
 * slow lanes leave room to the others. A lane that holds nothing may acquire one record of any size while there is
 * room. So no record is too large, and lanes without room take turns.
 */
export class FetchBudget {
  private used = 0;
  /** Callbacks of the lanes that wait for room, in the order of their turns. */
  private readonly waiting = new Set<() => void>();
  private readonly sheddable = new Set<Sheddable>();
  private scheduled = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(readonly limit: number = shareOfHeap()) {}

  /** Bytes that are free. Negative after a record or a fetch that exceeded them. */
  get free(): number {
    return this.limit - this.used;
  }

  /** Bytes up to which a lane that already holds records may acquire more. */
  get share(): number {
    const { limit, free } = this;
    return Math.max(limit / LEAST_OF_LIMIT, Math.min(limit / MOST_OF_LIMIT, free / PART_OF_FREE));
  }

  usage(): BudgetUsage {
    return { held: this.used, limit: this.limit };
  }

  take(bytes: number): void {
    this.used += bytes;
  }

  give(bytes: number): void {
    this.used -= bytes;
    this.schedule();
  }

  /** Calls `turn` once there is room and its turn has come. A repeated call before that keeps its place. */
  wait(turn: () => void): void {
    this.waiting.add(turn);
    this.schedule();
    if (this.free <= 0) this.timer ??= setTimeout(() => this.shedIdle(), IDLE_MS).unref();
  }

  forget(turn: () => void): void {
    this.waiting.delete(turn);
  }

  /** Registers records that may be dropped when other lanes wait for room. Idempotent. */
  offer(records: Sheddable): void {
    this.sheddable.add(records);
  }

  withdraw(records: Sheddable): void {
    this.sheddable.delete(records);
  }

  private schedule(): void {
    if (this.scheduled || this.waiting.size === 0 || this.free <= 0) return;
    this.scheduled = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.scheduled = false;
    let turns = 0;
    for (const each of this.waiting) {
      if (this.free <= 0 || ++turns > TURNS_AT_ONCE) break;
      this.waiting.delete(each);
      each();
    }
    this.schedule();
  }

  /** Drops the records of lanes that do not progress, oldest first, while other lanes have no room. */
  private shedIdle(): void {
    this.timer = undefined;
    if (this.waiting.size === 0) return;
    const since = performance.now() - IDLE_MS;
    for (const each of [...this.sheddable]) {
      if (this.free > 0) break;
      if (each.movedAt > since) continue;
      this.sheddable.delete(each);
      each.shed();
    }
    if (this.free <= 0) this.timer = setTimeout(() => this.shedIdle(), IDLE_MS).unref();
  }
}
