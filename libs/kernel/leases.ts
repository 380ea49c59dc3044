/** A piece of work that is this process's alone, for as long as it lasts. */
export interface Lease {
  readonly name: string;
  /** Greater with every change of owner. */
  readonly token: number;
  /** Aborts when the lease is lost: it could not be renewed in time, or another process has it. Stop the work. */
  readonly lost: AbortSignal;
  /** Gives it up, so that another process may have it at once; call it when the work has ended. Idempotent, never rejects. */
  release(): Promise<void>;
}

/**
 * Who may do what only one process at a time is to do (run a projection, give out timer ticks). A lease says when to
 * start and stop; it cannot stop a process that hangs and goes on: writes are guarded besides, by compare-and-set or by
 * ids that make a repeat harmless.
 */
export interface Leases {
  /**
   * Resolves once the lease is this process's, however long another one has it; undefined when `signal` aborts first.
   * A lease whose owner died is free after the time to live. An engine that cannot be reached is waited for.
   */
  acquire(name: string, signal: AbortSignal): Promise<Lease | undefined>;
}
