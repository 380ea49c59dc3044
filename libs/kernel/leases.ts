/** Time after which the lease of a dead owner is free. */
export const LEASE_MS = 5_000;

/** Exclusive right of this process to a piece of work, until released or lost. */
export interface Lease {
  readonly name: string;
  /** Increases with every change of owner. */
  readonly token: number;
  /** Aborts when the lease is lost (not renewed in time, or owned by another process). Stop the work then. */
  readonly lost: AbortSignal;
  /** Frees the lease for another process at once. Call it when the work has ended. Idempotent, never rejects. */
  release(): Promise<void>;
}

/**
 * Assigns work that only one process at a time may do (run a projection, publish timer ticks). A lease cannot stop a
 * process that hangs and then continues. So writes are also guarded, by compare-and-set or by ids that make a repeat
 * harmless.
 */
export interface Leases {
  /**
   * Waits until this process owns the lease, without limit. Resolves to undefined when `signal` aborts first. A dead
   * owner's lease becomes free after its time to live. Waits as well while the engine is unreachable. Calls
   * `onHeldElsewhere` whenever it has seen that another owner is alive.
   */
  acquire(name: string, signal: AbortSignal, onHeldElsewhere?: () => void): Promise<Lease | undefined>;
}
