/**
 * Shares a work among its callers. A caller gets the outcome of a round that begins after its call, so that it covers
 * everything before. At most one round goes on, and one waits.
 */
export class Rounds<T> {
  private running: Promise<T> | undefined;
  private next: Promise<T> | undefined;

  constructor(private readonly work: () => Promise<T>) {}

  /** Settles as the round does. */
  run(): Promise<T> {
    if (this.next) return this.next;
    if (!this.running) return this.begin();
    const after = (): Promise<T> => this.begin();
    return (this.next = this.running.then(after, after));
  }

  private begin(): Promise<T> {
    this.next = undefined;
    const round = this.work();
    this.running = round;
    const ended = (): void => {
      if (this.running === round) this.running = undefined;
    };
    // The callers handle the failure.
    round.then(ended, ended);
    return round;
  }
}
