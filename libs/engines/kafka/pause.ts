/** An interruptible wait: `wake` ends it at once. One wait at a time. */
export class Pause {
  private resume: (() => void) | undefined;
  private woken = false;

  async wait(ms?: number): Promise<void> {
    if (this.woken) {
      this.woken = false;
      return;
    }
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.resume = resolve;
      if (ms !== undefined) timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.resume = undefined;
    this.woken = false;
  }

  /** Ends the current wait, or the next one. */
  wake(): void {
    this.woken = true;
    this.resume?.();
  }
}

/** Pauses that grow from `first` to `longest` milliseconds. */
export class Backoff {
  private next: number;

  constructor(
    private readonly first = 50,
    private readonly longest = 1_000,
  ) {
    this.next = first;
  }

  ms(): number {
    const ms = this.next;
    this.next = Math.min(this.longest, ms * 2);
    return ms;
  }

  reset(): void {
    this.next = this.first;
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
