import { Backoff } from '#libs/async/backoff.js';
import { withDeadline } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { type Position } from './events.js';
import { asError } from './error-message.js';

/** Tells whether the tables in memory are new enough to decide about an event (docs/adr/0007). */
export interface FreshTables {
  /**
   * Resolves with true when the tables hold every change that a command had answered before this call. Resolves with
   * false when `over` holds first. Costs nothing while events arrive often.
   */
  holdAnswered(over: () => boolean): Promise<boolean>;
  /** The same for every event that was in the log before this call, answered or not. Asks the log. */
  holdAll(over: () => boolean): Promise<boolean>;
  /**
   * The position that the tables hold at least, if they hold every change that a command had answered before this call.
   * Undefined when that is not known now: a later call may know it.
   */
  heldNow(): Position | undefined;
}

export interface TableFreshnessOptions {
  /** Resolves with true once the tables hold the position, and with false after `timeoutMs`. */
  readonly follower: { waitFor(position: Position, timeoutMs: number): Promise<boolean> };
  /** Last position of the event log. */
  readonly lastPosition: () => Promise<Position>;
  /** The highest position that any process has reached. Asked while the event log does not answer. */
  readonly highestReached?: () => Promise<Position>;
  /**
   * Since when (process uptime) every command waits for this process without a break. Undefined when one may not.
   * Default: since the start.
   */
  readonly awaitedSince?: () => number | undefined;
  /** Called when the log begins not to answer, or the tables are far behind it. */
  readonly onDelayed: (error: Error) => void;
  /** Process uptime, milliseconds. */
  readonly now?: () => number;
}

/**
 * How old a comparison with the log may be when an event arrives. A command that this process has not applied is
 * answered 2 s after it was written, at the earliest. So it was written before that comparison.
 */
const COMPARED_MS = 1_000;
/** How long the tables may take to a position before the caller looks whether its wait is over. */
const REACH_MS = 500;
/** How long the event log may take to answer before the other processes are asked instead. */
const LOG_MS = 2_000;
const PAUSES = { firstMs: 20, longestMs: 500 };

/** One comparison with the log serves everything that waits. None is made while nothing arrives. */
export class TableFreshness implements FreshTables {
  /** The tables hold what was in the log at this time, which ended at this position. */
  private comparedAt = -Infinity;
  private comparedEnd: Position | undefined;
  private comparing: Promise<void> | undefined;
  /** The end of the log at a time, which the tables have not reached yet. */
  private goal: { readonly end: Position; readonly at: number } | undefined;
  private asking = false;
  /** The log did not answer the last time. */
  private away = false;
  /** The tables were behind the log the last time. */
  private behind = false;
  private readonly backoff = new Backoff(PAUSES);
  private readonly now: () => number;

  constructor(private readonly options: TableFreshnessOptions) {
    this.now = options.now ?? (() => performance.now());
  }

  async holdAnswered(over: () => boolean): Promise<boolean> {
    const now = this.now();
    const held = await this.hold(this.earliest(now), over);
    this.compareAhead(now);
    return held;
  }

  heldNow(): Position | undefined {
    const now = this.now();
    const held = this.comparedAt >= this.earliest(now) ? this.comparedEnd : undefined;
    this.compareAhead(now);
    return held;
  }

  holdAll(over: () => boolean): Promise<boolean> {
    return this.hold(this.now(), over);
  }

  /** How old a comparison may be for what a command had answered before now. */
  private earliest(now: number): number {
    const { awaitedSince = () => -Infinity } = this.options;
    return Math.min(now, Math.max(now - COMPARED_MS, awaitedSince() ?? now));
  }

  /** The next event need not wait. */
  private compareAhead(now: number): void {
    if (this.comparedAt < now - COMPARED_MS / 2) void this.compare();
  }

  private async hold(at: number, over: () => boolean): Promise<boolean> {
    while (this.comparedAt < at) {
      if (over()) return false;
      await this.compare();
    }
    return true;
  }

  /** Resolves when one comparison has ended, or was given up for now. Never rejects. */
  private compare(): Promise<void> {
    this.comparing ??= this.step().finally(() => {
      this.comparing = undefined;
    });
    return this.comparing;
  }

  private async step(): Promise<void> {
    try {
      this.goal ??= await this.end();
      const { end, at } = this.goal;
      if (await this.options.follower.waitFor(end, REACH_MS)) {
        this.goal = undefined;
        this.comparedAt = at;
        this.comparedEnd = end;
        this.behind = false;
        this.backoff.reset();
      } else {
        if (!this.behind) this.options.onDelayed(new Error(`the tables have not reached log position ${end}`));
        this.behind = true;
      }
    } catch (error) {
      this.logIsAway(error);
      await pause(this.backoff.next(), undefined, { ref: false });
    }
  }

  private async end(): Promise<{ readonly end: Position; readonly at: number }> {
    const { highestReached } = this.options;
    const at = this.now();
    if (!highestReached) return { end: await this.ask(), at };
    if (!this.asking) {
      try {
        return { end: await withDeadline(this.ask(), LOG_MS, 'the event log'), at };
      } catch (error) {
        this.logIsAway(error);
      }
    }
    return { end: await highestReached(), at };
  }

  private async ask(): Promise<Position> {
    this.asking = true;
    try {
      const position = await this.options.lastPosition();
      this.away = false;
      return position;
    } finally {
      this.asking = false;
    }
  }

  private logIsAway(error: unknown): void {
    if (!this.away) this.options.onDelayed(asError(error));
    this.away = true;
  }
}
