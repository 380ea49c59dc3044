/** Lets many callers wait for a condition. The code that changes it calls `wake`. */
export class Condition {
  private waiting = new Set<() => void>();

  /** Makes all waiting callers check the condition again. */
  wake(): void {
    if (this.waiting.size === 0) return;
    const waiting = this.waiting;
    this.waiting = new Set();
    for (const resume of waiting) resume();
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  /** Resolves to true when the condition holds within `timeoutMs`, else to false. */
  async within(timeoutMs: number, holds: () => boolean): Promise<boolean> {
    if (holds()) return true;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      this.wake();
    }, timeoutMs);
    await this.until(() => timedOut || holds());
    clearTimeout(timer);
    return holds();
  }
}
