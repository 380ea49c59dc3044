import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { type Faults } from '#libs/kernel/faults.js';
import { type Attempt, packAttempts } from '#libs/stream-log/attempt-records.js';
import { laneFaults, LaneWriter } from '#libs/stream-log/lane-writer.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type DueStore, type DueEntry } from '#libs/due/due-store.js';
import { type DeliveryLogger } from './webhook-settings.js';

/** The writes that must be durable before a delivery is acknowledged. */
export interface DeliveryOutcome {
  /** The delivery's next attempt. Written first, so that a crash at no point loses the delivery. */
  readonly waiting: DueEntry | undefined;
  readonly attempt: Attempt | undefined;
  /** The entry of the due store that the delivery came from. Removed last, so that it waits until this is durable. */
  readonly entry?: string | undefined;
  /** Called when all writes are durable; acknowledges the delivery. */
  readonly durable: () => void;
}

const MAX_GROUP = 512;
const PAUSES = { firstMs: 100, longestMs: 5000 };
/** An attempt is written with the next event, if one comes in this time. A crash meanwhile repeats the delivery. */
const LINGER_MS = 20;

export interface OutcomeWriterOptions {
  readonly log: StreamLog;
  readonly due: Pick<DueStore, 'put' | 'remove'>;
  readonly logger: DeliveryLogger;
  readonly onFailure: () => void;
}

/**
 * Writes the outcomes of deliveries in groups: next attempts to the due store, then attempts to the log, those of a webhook
 * that wait for the same write as one record (docs/adr/0049), then removes from the due store what has ended. A failed
 * write is retried until it succeeds or `abandon` is called. While a lane of attempts cannot be written, next attempts are
 * scheduled all the same, and so are the outcomes of other lanes. Outcomes that are not durable are not acknowledged,
 * so their number is bounded by the records in flight, and their deliveries come again after a restart.
 */
export class OutcomeWriter {
  private queue: DeliveryOutcome[] = [];
  private running: Promise<void> | undefined;
  private ended: DeliveryOutcome[] = [];
  private removing: Promise<void> | undefined;
  private abandoned = false;
  private readonly retry = new WakeablePause();
  private readonly attempts: LaneWriter<Attempt>;
  private readonly faults: Faults;

  constructor(private readonly options: OutcomeWriterOptions) {
    const { log, logger, onFailure } = options;
    this.faults = laneFaults(logger);
    this.attempts = new LaneWriter({
      log,
      lingerMs: LINGER_MS,
      pack: packAttempts,
      what: 'attempts',
      faults: this.faults,
      onFailure,
    });
  }

  push(outcome: DeliveryOutcome): void {
    this.queue.push(outcome);
    this.running ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.drain());
  }

  /** Resolves when nothing is left to write. */
  async idle(): Promise<void> {
    do {
      await this.running;
      await this.attempts.idle();
      await this.removing;
    } while (this.running !== undefined || this.removing !== undefined);
  }

  /** Gives up outcomes that cannot be written. */
  abandon(): void {
    this.abandoned = true;
    this.retry.wake();
    void this.attempts.stop();
    this.faults.close();
  }

  private async drain(): Promise<void> {
    while (this.queue.length > 0 && !this.abandoned) {
      const group = this.queue.length <= MAX_GROUP ? this.queue : this.queue.slice(0, MAX_GROUP);
      this.queue = this.queue.length <= MAX_GROUP ? [] : this.queue.slice(MAX_GROUP);
      await this.write(group);
    }
    this.running = undefined;
  }

  private async write(group: readonly DeliveryOutcome[]): Promise<void> {
    const waiting = group.flatMap((each) => each.waiting ?? []);
    if (waiting.length > 0) {
      if (!(await this.insist(() => this.options.due.put(waiting)))) return;
    }
    for (const outcome of group) {
      const { attempt } = outcome;
      if (attempt) this.attempts.write({ record: attempt, settled: () => this.recorded(outcome) });
      else this.recorded(outcome);
    }
  }

  private recorded(outcome: DeliveryOutcome): void {
    if (outcome.entry === undefined) {
      outcome.durable();
      return;
    }
    this.ended.push(outcome);
    this.removing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.removeEnded());
  }

  private async removeEnded(): Promise<void> {
    while (this.ended.length > 0 && !this.abandoned) {
      const group = this.ended.splice(0, MAX_GROUP);
      const entries = group.flatMap(({ entry }) => entry ?? []);
      if (!(await this.insist(() => this.options.due.remove(entries)))) break;
      for (const { durable } of group) durable();
    }
    this.removing = undefined;
  }

  private async insist(work: () => Promise<unknown>): Promise<boolean> {
    const backoff = new Backoff(PAUSES);
    while (!this.abandoned) {
      try {
        await work();
        return true;
      } catch (error) {
        const retryInMs = backoff.next();
        this.options.onFailure();
        this.options.logger.error({ err: error, retryInMs }, 'cannot write delivery results to the due store');
        await this.retry.wait(retryInMs);
      }
    }
    return false;
  }
}
