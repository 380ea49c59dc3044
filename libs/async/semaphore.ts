/**
 * Slots that works share, with a limit for each key as well. Waiting keys take turns, so one with many waiting works
 * does not delay the others. Works of one key get slots in the order of their calls.
 */
export class Semaphore<K = string> {
  private readonly held = new Map<K, number>();
  /** Waiting works by key. The key whose turn it is comes first. */
  private readonly waiting = new Map<K, (() => void)[]>();
  private total = 0;

  /**
   * @param slots number of slots in all, at least 1.
   * @param limitOf most slots that one key may hold, at least 1. Default: all.
   */
  constructor(
    private readonly slots: number,
    private readonly limitOf: (key: K) => number = () => slots,
  ) {}

  /** Number of slots that are held. */
  get inUse(): number {
    return this.total;
  }

  /** Acquires a slot if one is free for the key. True obliges the caller to `release`. */
  tryAcquire(key: K): boolean {
    if (!this.isFree(key)) return false;
    this.hold(key);
    return true;
  }

  /** Resolves when the caller holds a slot, which obliges it to `release`. */
  async acquire(key: K): Promise<void> {
    if (this.tryAcquire(key)) return;
    await new Promise<void>((resolve) => {
      const queue = this.waiting.get(key);
      if (queue) queue.push(resolve);
      else this.waiting.set(key, [resolve]);
    });
  }

  /** Releases a slot. The next waiting work holds it when this returns. */
  release(key: K): void {
    this.total--;
    const left = (this.held.get(key) ?? 0) - 1;
    if (left > 0) this.held.set(key, left);
    else this.held.delete(key);
    this.passOn();
  }

  /** Runs the work while holding a slot. Settles as the work does. */
  async run<T>(key: K, work: () => Promise<T>): Promise<T> {
    await this.acquire(key);
    try {
      return await work();
    } finally {
      this.release(key);
    }
  }

  private isFree(key: K): boolean {
    return this.total < this.slots && (this.held.get(key) ?? 0) < this.limitOf(key);
  }

  private hold(key: K): void {
    this.total++;
    this.held.set(key, (this.held.get(key) ?? 0) + 1);
  }

  private passOn(): void {
    for (const [key, queue] of this.waiting) {
      if (!this.isFree(key)) continue;
      const start = queue.shift();
      // Moves to the end, so that the other keys get their turn.
      this.waiting.delete(key);
      if (queue.length > 0) this.waiting.set(key, queue);
      if (!start) continue;
      this.hold(key);
      start();
      return;
    }
  }
}
