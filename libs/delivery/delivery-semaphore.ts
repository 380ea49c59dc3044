/**
 * Limits the deliveries in flight over all endpoints. Slow or unknown endpoints take at most half of the slots, so
 * healthy endpoints find room however many others hang.
 */
export class DeliverySemaphore {
  private taken = 0;
  private takenSlow = 0;
  private readonly waiting: { readonly slow: boolean; readonly wake: () => void }[] = [];

  constructor(private readonly total: number) {}

  get inUse(): number {
    return this.taken;
  }

  tryAcquire(slow: boolean): boolean {
    if (!this.free(slow)) return false;
    this.taken++;
    if (slow) this.takenSlow++;
    return true;
  }

  /** Resolves when a retry may succeed. Call `wakeNext` afterwards, whether a slot was taken or not. */
  freed(slow: boolean): Promise<void> {
    return new Promise((wake) => this.waiting.push({ slow, wake }));
  }

  /** @param slow the value that the slot was taken with. */
  release(slow: boolean): void {
    this.taken--;
    if (slow) this.takenSlow--;
    this.wakeNext();
  }

  wakeNext(): void {
    if (this.waiting.length === 0 || this.taken >= this.total) return;
    const next = this.waiting.findIndex((waiter) => this.free(waiter.slow));
    if (next >= 0) this.waiting.splice(next, 1)[0]?.wake();
  }

  wakeAll(): void {
    for (const { wake } of this.waiting.splice(0)) wake();
  }

  private free(slow: boolean): boolean {
    return this.taken < this.total && !(slow && this.takenSlow >= Math.ceil(this.total / 2));
  }
}
