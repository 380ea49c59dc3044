/**
 * Limits the deliveries in flight over all endpoints. Slow or unknown endpoints get at most half of the slots, so
 * healthy endpoints find a free one however many others hang.
 */
export class DeliverySemaphore {
  private held = 0;
  private heldSlow = 0;
  private readonly waiting: { readonly slow: boolean; readonly wake: () => void }[] = [];

  constructor(private readonly total: number) {}

  get inUse(): number {
    return this.held;
  }

  tryAcquire(slow: boolean): boolean {
    if (!this.free(slow)) return false;
    this.held++;
    if (slow) this.heldSlow++;
    return true;
  }

  /** Resolves when a retry may succeed. Call `wakeNext` afterwards, even if no slot was acquired. */
  freed(slow: boolean): Promise<void> {
    return new Promise((wake) => this.waiting.push({ slow, wake }));
  }

  /** @param slow the value that the slot was acquired with. */
  release(slow: boolean): void {
    this.held--;
    if (slow) this.heldSlow--;
    this.wakeNext();
  }

  wakeNext(): void {
    if (this.waiting.length === 0 || this.held >= this.total) return;
    const next = this.waiting.findIndex((waiter) => this.free(waiter.slow));
    if (next >= 0) this.waiting.splice(next, 1)[0]?.wake();
  }

  wakeAll(): void {
    for (const { wake } of this.waiting.splice(0)) wake();
  }

  private free(slow: boolean): boolean {
    return this.held < this.total && !(slow && this.heldSlow >= Math.ceil(this.total / 2));
  }
}
