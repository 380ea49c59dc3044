interface Kept<T> {
  readonly answer: Promise<T>;
  /** Time until which it is given. */
  until: number;
}

export interface SharedAnswersOptions<T> {
  readonly find: (key: string) => Promise<T>;
  /** Least time in milliseconds for which an answer is given again. */
  readonly keptMs: number;
  /** Most answers that are kept. */
  readonly most: number;
  /** Milliseconds. */
  readonly now: () => number;
}

/** Part of the time that is spent on finding the answer of one key, at most. */
const SHARE = 10;

/**
 * Finds an answer once for all who ask for it within a time, however many. One that took long to find is given for longer,
 * so that those who ask cannot keep a process busy.
 */
export class SharedAnswers<T> {
  private readonly kept = new Map<string, Kept<T>>();

  constructor(private readonly options: SharedAnswersOptions<T>) {}

  /** Settles as `find` does. A failure is given to those who wait for it only. */
  of(key: string): Promise<T> {
    const { find, keptMs, most, now } = this.options;
    const known = this.kept.get(key);
    const startedAt = now();
    if (known && startedAt < known.until) return known.answer;
    // The newest comes last, so that the first ones are those to forget.
    this.kept.delete(key);
    for (const [oldest] of this.kept) {
      if (this.kept.size < most) break;
      this.kept.delete(oldest);
    }
    const answer = find(key);
    const entry: Kept<T> = { answer, until: Number.POSITIVE_INFINITY };
    this.kept.set(key, entry);
    const found = (): void => {
      const endedAt = now();
      entry.until = Math.max(startedAt + keptMs, endedAt + (SHARE - 1) * (endedAt - startedAt));
    };
    const failed = (): void => {
      if (this.kept.get(key) === entry) this.kept.delete(key);
    };
    answer.then(found, failed);
    return answer;
  }
}
