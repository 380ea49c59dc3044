import { Backoff } from '#libs/async/backoff.js';
import { type Clock } from '#libs/kernel/clock.js';

interface Failure {
  readonly error: Error;
  readonly backoff: Backoff;
  readonly until: number;
}

const MAX_BACKOFF_MS = 60_000;

/** Bundles that could not be loaded, each with a pause before the next try, which doubles. */
export class LoadFailures {
  private readonly failures = new Map<string, Failure>();

  /** @param firstMs first pause */
  constructor(
    private readonly firstMs: number,
    private readonly clock: Clock,
  ) {}

  /** Error of the last try while its pause lasts. */
  of(sourceId: string): Error | undefined {
    const failure = this.failures.get(sourceId);
    return failure && this.clock.now() < failure.until ? failure.error : undefined;
  }

  add(sourceId: string, error: Error): void {
    const { firstMs } = this;
    const backoff = this.failures.get(sourceId)?.backoff ?? new Backoff({ firstMs, longestMs: MAX_BACKOFF_MS });
    this.failures.set(sourceId, { error, backoff, until: this.clock.now() + backoff.next() });
  }

  forget(sourceId: string): void {
    this.failures.delete(sourceId);
  }
}
