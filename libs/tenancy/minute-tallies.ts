import { type CountedMinute, KEPT_MINUTES, MINUTE_COUNTS, type MinuteCount, NO_MINUTE_COUNTS } from './published.js';

type Tally = Record<MinuteCount, number>;

/** Counts by minute and workspace in memory. */
export class MinuteTallies {
  private readonly minutes = new Map<number, Map<string, Tally>>();

  get isEmpty(): boolean {
    return this.minutes.size === 0;
  }

  add(minute: number, workspaceId: string, what: MinuteCount, times: number): void {
    this.tallyOf(minute, workspaceId)[what] += times;
  }

  addAll({ minute, workspaceId, ...counts }: CountedMinute): void {
    const tally = this.tallyOf(minute, workspaceId);
    for (const what of MINUTE_COUNTS) tally[what] += counts[what];
  }

  at(minute: number, workspaceId: string): CountedMinute {
    return { minute, workspaceId, ...(this.minutes.get(minute)?.get(workspaceId) ?? NO_MINUTE_COUNTS) };
  }

  *all(): Iterable<CountedMinute> {
    for (const [minute, tallies] of this.minutes) {
      for (const [workspaceId, counts] of tallies) yield { minute, workspaceId, ...counts };
    }
  }

  *of(workspaceId: string): Iterable<CountedMinute> {
    for (const minute of this.minutes.keys()) yield this.at(minute, workspaceId);
  }

  /** Forgets the minutes that no store keeps. */
  forgetOld(now: number): void {
    for (const minute of this.minutes.keys()) if (minute < now - KEPT_MINUTES) this.minutes.delete(minute);
  }

  private tallyOf(minute: number, workspaceId: string): Tally {
    let tallies = this.minutes.get(minute);
    if (!tallies) this.minutes.set(minute, (tallies = new Map<string, Tally>()));
    let tally = tallies.get(workspaceId);
    if (!tally) tallies.set(workspaceId, (tally = { ...NO_MINUTE_COUNTS }));
    return tally;
  }
}
