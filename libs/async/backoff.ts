/** Lengths in milliseconds. */
export interface BackoffOptions {
  readonly firstMs: number;
  /** No pause is longer. */
  readonly longestMs: number;
  /** Share of each pause that is random, from 0 (the default) to 1. Spreads clients that failed together. */
  readonly jitter?: number;
  /** Returns a number in [0, 1). Default: Math.random. */
  readonly random?: () => number;
}

/** Lengths of the pauses between attempts. Each is twice the one before, up to `longestMs`. */
export class Backoff {
  private failures = 0;

  constructor(private readonly options: BackoffOptions) {}

  /** Number of pauses since the start or the last `reset`. */
  get count(): number {
    return this.failures;
  }

  /** Length of the next pause in milliseconds. */
  next(): number {
    const { firstMs, longestMs, jitter = 0, random = Math.random } = this.options;
    // The exponent is bounded, because firstMs may be 0 and 0 * Infinity is not a number.
    const ms = Math.min(longestMs, firstMs * 2 ** Math.min(this.failures++, 40));
    return jitter === 0 ? ms : ms * (1 - jitter * random());
  }

  /** Starts with the first pause again. Call it after a success. */
  reset(): void {
    this.failures = 0;
  }
}
