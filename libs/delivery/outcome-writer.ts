import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { type Faults } from '#libs/kernel/faults.js';
import { laneFaults, LaneWriter, type LaneWriterOptions, type Placed } from '#libs/stream-log/lane-writer.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type DueStore, type DueEntry } from '#libs/due/due-store.js';
import { type DeliveryLogger } from './webhook-settings.js';

/** What must be durable before a delivery, or a message, is acknowledged. */
export interface DeliveryOutcome<R extends Placed> {
  /** The delivery's next attempt. It is written first, so that a crash at any point keeps the delivery. */
  readonly waiting: DueEntry | undefined;
  readonly attempt: R | undefined;
  /** The entry of the due store that the delivery came from. It is removed last, after the other writes are durable. */
  readonly entry?: string | undefined;
  /** Called when all writes are durable; acknowledges the delivery. */
  readonly durable: () => void;
}

const MAX_GROUP = 512;
const PAUSES = { firstMs: 100, longestMs: 5000 };
/** How long an attempt waits for others to share its write. A crash in this time repeats the delivery. */
const LINGER_MS = 20;

export interface OutcomeWriterOptions<R extends Placed> extends Pick<LaneWriterOptions<R>, 'pack' | 'what'> {
  readonly log: StreamLog;
  readonly due: Pick<DueStore, 'put' | 'remove'>;
  readonly logger: DeliveryLogger;
  readonly onFailure: () => void;
}

/**
 * Writes the outcomes of deliveries in groups. Next attempts go to the due store, then attempts to the log, and last
 * ended entries are removed from the due store. Attempts of one webhook that wait for the same write become one record
 * (docs/adr/0049). A failed write is retried until it succeeds or `abandon` is called. A lane of attempts that cannot
 * be written delays neither next attempts nor the outcomes of other lanes. An outcome that is not durable is not
 * acknowledged. So the limit on records in flight bounds their number, and their deliveries are repeated after a
 * restart.
 */
export class OutcomeWriter<R extends Placed> {
  private queue: DeliveryOutcome<R>[] = [];
  private running: Promise<void> | undefined;
  private ended: DeliveryOutcome<R>[] = [];
  private removing: Promise<void> | undefined;
  private abandoned = false;
  private readonly retry = new WakeablePause();
  private readonly attempts: LaneWriter<R>;
  private readonly faults: Faults;

  constructor(private readonly options: OutcomeWriterOptions<R>) {
    const { log, logger, onFailure, pack, what } = options;
    this.faults = laneFaults(logger);
    this.attempts = new LaneWriter({
      log,
      lingerMs: LINGER_MS,
      pack,
      what,
      faults: this.faults,
      onFailure,
    });
  }

  push(outcome: DeliveryOutcome<R>): void {
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

  /** Drops the outcomes that cannot be written. */
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

  private async write(group: readonly DeliveryOutcome<R>[]): Promise<void> {
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

  private recorded(outcome: DeliveryOutcome<R>): void {
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
