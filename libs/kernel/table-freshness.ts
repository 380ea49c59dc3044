import { Backoff } from '#libs/async/backoff.js';
import { withDeadline } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { type Position } from './events.js';
import { asError } from './error-message.js';

/** Tells whether the tables in memory are new enough to decide about an event (docs/adr/0007). */
export interface FreshTables {
  /**
   * Resolves with true once the tables contain every change whose command was answered before this call. Resolves with
   * false when `over` returns true first. Costs nothing while events arrive often.
   */
  holdAnswered(over: () => boolean): Promise<boolean>;
  /** Waits in the same way for every event in the log at this call, answered or not. Asks the log. */
  holdAll(over: () => boolean): Promise<boolean>;
  /**
   * Returns a position that the tables have reached, if they contain every change whose command was answered before
   * this call. Undefined when that is not known yet.
   */
  heldNow(): Position | undefined;
}

export interface TableFreshnessOptions {
  /** Resolves with true once the tables have reached the position, and with false after `timeoutMs`. */
  readonly follower: { waitFor(position: Position, timeoutMs: number): Promise<boolean> };
  /** Last position of the event log. */
  readonly lastPosition: () => Promise<Position>;
  /** The highest position that any process has reached. Asked while the event log does not answer. */
  readonly highestReached?: () => Promise<Position>;
  /**
   * Process uptime from which on every command has waited for this process. Undefined when a command may not wait.
   * Default: the start.
   */
  readonly awaitedSince?: () => number | undefined;
  /** Called when the log stops answering, or when the tables fall far behind it. */
  readonly onDelayed: (error: Error) => void;
  /** Process uptime, milliseconds. */
  readonly now?: () => number;
}

/**
 * Largest age of a comparison with the log when an event arrives. A command that this process has not applied is
 * answered 2 s after its write at the earliest. So the comparison saw every answered command.
 */
const COMPARED_MS = 1_000;
/** Interval at which a waiting caller checks whether its wait is over. */
const REACH_MS = 500;
/** Time for the event log to answer before the other processes are asked instead. */
const LOG_MS = 2_000;
const PAUSES = { firstMs: 20, longestMs: 500 };

/**
 * Compares the tables with the log. One comparison serves all waiting events, and none is made while no event arrives.
 */
export class TableFreshness implements FreshTables {
  /** At this time the log ended at this position, and the tables have reached it. */
  private comparedAt = -Infinity;
  private comparedEnd: Position | undefined;
  private comparing: Promise<void> | undefined;
  /** End of the log at a time, which the tables have not reached yet. */
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

  /** Oldest comparison that covers every command answered before now. */
  private earliest(now: number): number {
    const { awaitedSince = () => -Infinity } = this.options;
    return Math.min(now, Math.max(now - COMPARED_MS, awaitedSince() ?? now));
  }

  /** Compares in advance, so that the next event need not wait. */
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

  /** Resolves when one comparison has ended or was abandoned. Never rejects. */
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
