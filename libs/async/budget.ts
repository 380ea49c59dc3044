/** Holders that an amount counts for, besides the process. */
export type Holders<S extends string> = Readonly<Partial<Record<S, string>>>;

/** The limit that one more amount would have exceeded. */
export interface OverBudget<S extends string> {
  readonly scope: S | 'process';
  readonly limit: number;
  /** What the scope would hold with the amount. */
  readonly actual: number;
}

/**
 * An amount (bytes, open streams) that is bounded for the process and for each holder, such as a user and a workspace. One
 * holder that exceeds its own limit costs the others nothing. It never waits: the caller refuses, or ends what holds most.
 */
export class Budget<S extends string> {
  private readonly held = new Map<string, number>();
  private readonly scopes: readonly S[];
  private total = 0;

  /** @param limits of each scope, in the order in which they are checked. The limit of the process comes last. */
  constructor(private readonly limits: Readonly<Record<S | 'process', number>>) {
    this.scopes = Object.keys(limits).filter((scope): scope is S => scope !== 'process');
  }

  /** Amount that the process holds. */
  get inUse(): number {
    return this.total;
  }

  heldBy(scope: S, holder: string): number {
    return this.held.get(keyOf(scope, holder)) ?? 0;
  }

  /** The first limit that the amount would exceed; undefined when it fits. Holds nothing. */
  over(holders: Holders<S>, amount: number): OverBudget<S> | undefined {
    for (const scope of this.scopes) {
      const holder = holders[scope];
      if (holder === undefined) continue;
      const actual = this.heldBy(scope, holder) + amount;
      if (actual > this.limits[scope]) return { scope, limit: this.limits[scope], actual };
    }
    const actual = this.total + amount;
    return actual > this.limits.process ? { scope: 'process', limit: this.limits.process, actual } : undefined;
  }

  /**
   * Holds the amount, which obliges the caller to `release` it. Holds nothing and returns the exceeded limit where it
   * does not fit.
   */
  tryHold(holders: Holders<S>, amount: number): OverBudget<S> | undefined {
    const over = this.over(holders, amount);
    if (!over) this.hold(holders, amount);
    return over;
  }

  /** Holds the amount, also above a limit: for what exists already and has to be counted. Obliges to `release`. */
  hold(holders: Holders<S>, amount: number): void {
    this.total += amount;
    for (const scope of this.scopes) {
      const holder = holders[scope];
      if (holder === undefined) continue;
      const key = keyOf(scope, holder);
      const left = (this.held.get(key) ?? 0) + amount;
      if (left === 0) this.held.delete(key);
      else this.held.set(key, left);
    }
  }

  /** Releases an amount that was held for the same holders. */
  release(holders: Holders<S>, amount: number): void {
    this.hold(holders, -amount);
  }
}

const keyOf = (scope: string, holder: string): string => `${scope} ${holder}`;
