/** Process that can be started before it is needed. */
export interface Startable {
  readonly hasEnded: boolean;
  readonly ended: Promise<unknown>;
  kill(): void;
}

/**
 * Keeps at most one process started ahead, so that callers do not wait for a start. Each process is used once. A
 * process not acquired within `idleMs` is ended. Its timer does not keep the server alive.
 */
export class Standby<T extends Startable> {
  private ahead: Promise<T | null> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly alive = new Set<T>();
  private closed = false;

  constructor(
    private readonly start: () => Promise<T>,
    private readonly idleMs: number,
  ) {}

  /** Returns the process started ahead, or starts one. Rejects when it cannot be started. */
  async acquire(): Promise<T> {
    const { ahead } = this;
    this.ahead = undefined;
    clearTimeout(this.timer);
    const ready = await ahead;
    return ready && !ready.hasEnded ? ready : this.started();
  }

  /** Starts the next process ahead, unless there already is one. */
  prepare(): void {
    if (this.closed || this.ahead) return;
    // The next `acquire` starts a process itself and reports a failure to its caller.
    this.ahead = this.started().catch(() => null);
    this.timer = setTimeout(() => this.drop(), this.idleMs).unref();
  }

  /** Ends every process started here. Idempotent. */
  async close(): Promise<void> {
    this.closed = true;
    this.drop();
    await this.starting;
    const ending = [...this.alive];
    for (const one of ending) one.kill();
    await Promise.all(ending.map(({ ended }) => ended));
  }

  private drop(): void {
    clearTimeout(this.timer);
    const { ahead } = this;
    this.ahead = undefined;
    void ahead?.then((one) => one?.kill());
  }

  private starting: Promise<unknown> = Promise.resolve();

  private started(): Promise<T> {
    if (this.closed) return Promise.reject(new Error('the standby is closed and starts no process'));
    const starting = this.start().then((one) => {
      this.alive.add(one);
      void one.ended.then(() => this.alive.delete(one));
      return one;
    });
    this.starting = Promise.allSettled([this.starting, starting]);
    return starting;
  }
}
