import { ErrorType, isCommandError } from '@eventstore/db-client';
import { Backoff } from '#libs/async/backoff.js';
import { DeadlineExceeded } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { UnreadableEvent } from './recorded-event.js';

/** Errors that a retry would not change, or would make worse: a slow server does not need more load. */
const FINAL: ReadonlySet<ErrorType> = new Set([
  ErrorType.DEADLINE_EXCEEDED,
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.ACCESS_DENIED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
  ErrorType.STREAM_DELETED,
  ErrorType.STREAM_NOT_FOUND,
]);

const PAUSES = { firstMs: 50, longestMs: 1_000 };
/** An election takes 5 to 11 s, and the client then has to find the new leader. */
const ELECTION_MS = 20_000;
/** How long a call tries when the server has been away for longer than an election takes. */
const LEAST_MS = 3_000;

/** Whether a retry may have another outcome. */
const isPassing = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof UnreadableEvent || error instanceof DeadlineExceeded) &&
  !(isCommandError(error) && FINAL.has(error.type));

/**
 * The time since which no call has succeeded. Calls ride out an election, and do not wait long for a server that stays
 * away.
 */
export class Outage {
  private since: number | undefined;

  begun(): number {
    return (this.since ??= performance.now());
  }

  ended(): void {
    this.since = undefined;
  }
}

/** Attempts at one call, which may be repeated. */
export class Attempts {
  private readonly startedAt = performance.now();
  private readonly backoff = new Backoff(PAUSES);

  constructor(private readonly outage: Outage) {}

  /**
   * Resolves after a pause when another attempt is worthwhile. Otherwise rejects: with the error, or with
   * EngineUnavailable when another attempt would come too late.
   */
  async failed(error: unknown): Promise<void> {
    if (!isPassing(error)) throw error;
    const pauseMs = this.backoff.next();
    const until = Math.max(this.startedAt + LEAST_MS, this.outage.begun() + ELECTION_MS);
    if (performance.now() + pauseMs > until)
      throw new EngineUnavailable('EventStoreDB', messageOf(error), { cause: error });
    await pause(pauseMs);
  }

  succeeded(): void {
    this.outage.ended();
    this.backoff.reset();
  }
}

/** Retries `work` when the connection or the server failed it. Only for work that may be repeated. */
export const repeated = async <T>(outage: Outage, work: () => Promise<T>): Promise<T> => {
  const attempts = new Attempts(outage);
  for (;;) {
    try {
      const result = await work();
      attempts.succeeded();
      return result;
    } catch (error) {
      await attempts.failed(error);
    }
  }
};
