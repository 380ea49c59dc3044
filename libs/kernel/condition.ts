/** Lets many wait for something that somebody else brings about and announces with `wake`. */
export class Condition {
  private waiting = new Set<() => void>();

  /** What is waited for may have come true. */
  wake(): void {
    if (this.waiting.size === 0) return;
    const waiting = this.waiting;
    this.waiting = new Set();
    for (const resume of waiting) resume();
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  /** Whether it came true within `timeoutMs`. */
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
