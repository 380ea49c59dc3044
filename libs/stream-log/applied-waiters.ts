interface Waiter {
  readonly lane: string;
  readonly offset: number;
  readonly end: (applied: boolean) => void;
}

/** Callers that wait until a record is applied. */
export class AppliedWaiters {
  private readonly waiting = new Set<Waiter>();

  get size(): number {
    return this.waiting.size;
  }

  /** Resolves to true once `wake` finds the record applied, to false after `timeoutMs` or `giveUp`. */
  wait(lane: string, offset: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        lane,
        offset,
        end: (applied) => {
          clearTimeout(timer);
          this.waiting.delete(waiter);
          resolve(applied);
        },
      };
      const timer = setTimeout(() => waiter.end(false), timeoutMs);
      this.waiting.add(waiter);
    });
  }

  /** @param appliedTo returns the applied offset of a lane, undefined when unknown. */
  wake(appliedTo: (lane: string) => number | undefined): void {
    for (const waiter of this.waiting) if ((appliedTo(waiter.lane) ?? -1) >= waiter.offset) waiter.end(true);
  }

  giveUp(): void {
    for (const waiter of this.waiting) waiter.end(false);
  }
}
