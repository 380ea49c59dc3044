/**
 * Kinds of work after the end of a run. Each is reported once per run (docs/reference/component-model.md#late-work).
 */
export const LATE_KINDS = ['emit', 'log', 'respond', 'db', 'error', 'exit', 'store'] as const;
export type LateKind = (typeof LATE_KINDS)[number];

const KINDS: ReadonlySet<unknown> = new Set(LATE_KINDS);
export const isLateKind = (value: unknown): value is LateKind => KINDS.has(value);

/** Number for code outside of any run, such as that of the module. */
export const NO_RUN = 0;
/** Length of the detail of one report, in UTF-16 units. */
export const LATE_DETAIL_LENGTH = 1_000;
export const LATE_DETAIL_BYTES = 3 * LATE_DETAIL_LENGTH;
/** Size limit of a report on the wire. */
export const LATE_RECORD_BYTES = LATE_DETAIL_BYTES + 256;

const MAX_RUNS = 1_024;

/**
 * Remembers which kinds were reported for which run. Child and host each keep one and feed it the same reports, so the
 * host knows that a repeat is a breach. Beyond 1,024 runs, all before the latest forgotten one count as reported.
 */
export class ToldOnce {
  private readonly kinds = new Map<number, number>();
  private forgotten = -1;

  /** True the first time for a run and kind. */
  isFirst(n: number, kind: LateKind): boolean {
    const bit = 1 << LATE_KINDS.indexOf(kind);
    const told = this.kinds.get(n);
    if (told === undefined && n <= this.forgotten) return false;
    if (told !== undefined && (told & bit) !== 0) return false;
    this.kinds.set(n, (told ?? 0) | bit);
    if (this.kinds.size > MAX_RUNS) this.forgetOldest();
    return true;
  }

  private forgetOldest(): void {
    for (const n of this.kinds.keys()) {
      // Reports outside of any run are never forgotten.
      if (n === NO_RUN) continue;
      this.kinds.delete(n);
      this.forgotten = Math.max(this.forgotten, n);
      return;
    }
  }
}
