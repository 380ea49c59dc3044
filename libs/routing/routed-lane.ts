import { endsWithin } from '#libs/async/deadline.js';
import { type PatientPublisher } from '#libs/stream-log/patient-publisher.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';

/** How long the next emits wait for records of which a listener's lane cannot be written. */
const PATIENCE_MS = 500;

export interface RoutedLaneOptions {
  readonly publisher: Pick<PatientPublisher, 'push'>;
  /** Records that may wait for lanes that cannot be written. */
  readonly maxWaiting: number;
  readonly onSettled: (record: LogRecord, offset: number | null) => void;
}

/**
 * What one lane of emits has on its way to its listeners. An emit is acknowledged once all its records are durable. When
 * a listener's lane cannot be written, later emits go to the other listeners until `maxWaiting` records wait.
 */
export class RoutedLane {
  /** Number of records that are not durable yet, by the offset of their emit. */
  private readonly open = new Map<number, number>();
  private readonly waitingOf = new Map<string, number>();
  private waiting = 0;
  /** Topics that did not take their records within PATIENCE_MS, until nothing waits for them. */
  private readonly slow = new Set<string>();
  private waitingForSlow = 0;
  private given = false;
  private wakers: (() => void)[] = [];

  constructor(private readonly options: RoutedLaneOptions) {}

  /** Whether the emit's records are on their way. The log hands it over again when the batch failed for another reason. */
  has(offset: number): boolean {
    return this.open.has(offset);
  }

  publish(offset: number, records: readonly LogRecord[], durable: () => void): void {
    this.open.set(offset, records.length);
    for (const record of records) {
      const { topic } = record;
      this.count(topic, 1);
      this.options.publisher.push({
        record,
        isWanted: () => !this.given,
        settled: (at) => {
          this.options.onSettled(record, at);
          this.count(topic, -1);
          const left = (this.open.get(offset) ?? 1) - 1;
          if (left > 0) this.open.set(offset, left);
          else {
            this.open.delete(offset);
            durable();
          }
          this.wake();
        },
      });
    }
  }

  /** Resolves when the next emits may be routed, or when the lane is given up. */
  async room(): Promise<void> {
    if (this.waiting === this.waitingForSlow && this.waiting <= this.options.maxWaiting) return;
    const isOver = (): boolean => this.given || this.waiting === this.waitingForSlow;
    if (!(await endsWithin(this.until(isOver), PATIENCE_MS))) this.markSlow();
    await this.until(() => this.given || this.waiting <= this.options.maxWaiting);
  }

  /** Publishes nothing again. Resolves when what is on its way is durable, `ms` at most. */
  async giveUp(ms: number): Promise<void> {
    this.given = true;
    this.wake();
    await endsWithin(
      this.until(() => this.waiting === 0),
      ms,
    );
  }

  private async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.wakers.push(resolve));
  }

  private markSlow(): void {
    for (const [topic, count] of this.waitingOf) {
      if (this.slow.has(topic)) continue;
      this.slow.add(topic);
      this.waitingForSlow += count;
    }
  }

  private count(topic: string, by: 1 | -1): void {
    const left = (this.waitingOf.get(topic) ?? 0) + by;
    this.waiting += by;
    if (this.slow.has(topic)) this.waitingForSlow += by;
    if (left > 0) this.waitingOf.set(topic, left);
    else {
      this.waitingOf.delete(topic);
      this.slow.delete(topic);
    }
  }

  private wake(): void {
    for (const waker of this.wakers.splice(0)) waker();
  }
}
