import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type RetrySchedule, type ScheduledRetry, topicOf } from './retry-schedule.js';
import { type DeliveryLogger } from './webhook-settings.js';

const BATCH = 256;

export interface RetryPumpOptions {
  readonly log: StreamLog;
  readonly schedule: RetrySchedule;
  readonly topics: Pick<TopicPolicy, 'deliveries' | 'invocations'>;
  /** Returns a later time for an entry that would only be put off again, else undefined. Default: postpones nothing. */
  readonly postpone?: (entry: ScheduledRetry) => number | undefined;
  readonly clock: Clock;
  /** Longest time between two reads of the schedule, because other processes add entries too. */
  readonly pollMs: number;
  readonly logger: Pick<DeliveryLogger, 'error'>;
  readonly onFailure?: () => void;
}

/** A retry is due some seconds after it was scheduled, so it is seen in time. A replay may begin this much later. */
const POLL_MS = 1_000;

/**
 * Starts the pump without a worker, for one process at a time. Two pumps at once may publish a delivery twice under one
 * id. Can be started again after `close`.
 */
export const startRetryPump = async (
  options: Omit<RetryPumpOptions, 'pollMs'> & { readonly pollMs?: number },
): Promise<{ close(): Promise<void> }> => {
  const pump = new RetryPump({ pollMs: POLL_MS, ...options });
  pump.start();
  return pump;
};

/**
 * Moves due deliveries from the schedule back to their topics, and events of replays to theirs: publish, then remove.
 * A crash in between repeats them.
 */
export class RetryPump {
  private stopped = false;
  private running: Promise<void> | undefined;
  /** An entry that is due earlier ends the pause. */
  private wakeAt = 0;
  private readonly pause = new WakeablePause();

  constructor(private readonly options: RetryPumpOptions) {}

  start(): void {
    this.running ??= this.run();
  }

  /** Announces a new entry that is due at `dueAt`. */
  expect(dueAt: number): void {
    if (dueAt < this.wakeAt) this.pause.wake();
  }

  async close(): Promise<void> {
    this.stopped = true;
    this.pause.wake();
    await this.running;
  }

  private async run(): Promise<void> {
    const { schedule, clock, pollMs, logger } = this.options;
    const backoff = new Backoff({ firstMs: 100, longestMs: 5000 });
    while (!this.stopped) {
      // An entry added while the schedule is read ends the next pause at once.
      this.wakeAt = Infinity;
      let until: number;
      try {
        let next = await schedule.nextDueAt();
        if (next !== undefined && next <= clock.now()) {
          if ((await this.move(clock.now())) === BATCH) continue;
          next = await schedule.nextDueAt();
        }
        until = Math.min(next ?? Infinity, clock.now() + pollMs);
        backoff.reset();
      } catch (error) {
        const retryInMs = backoff.next();
        this.options.onFailure?.();
        logger.error({ err: error, retryInMs }, 'cannot move due deliveries back to their topics');
        until = clock.now() + retryInMs;
      }
      const ms = until - clock.now();
      if (ms <= 0 || this.stopped) continue;
      this.wakeAt = until;
      await this.pause.wait(ms);
    }
  }

  private async move(now: number): Promise<number> {
    const { log, schedule, topics, postpone } = this.options;
    const due = await schedule.due(now, BATCH);
    if (due.length === 0) return 0;
    const later: ScheduledRetry[] = [];
    const ready: ScheduledRetry[] = [];
    for (const entry of due) {
      const dueAt = postpone?.(entry);
      if (dueAt === undefined) ready.push(entry);
      else later.push({ ...entry, dueAt });
    }
    if (later.length > 0) await schedule.put(later);
    if (ready.length > 0) {
      // The log drops a record whose topic no longer exists; its entry is removed all the same.
      await log.publish(ready.map((entry) => ({ ...entry.record, topic: topicOf(entry, topics) })));
      await schedule.remove(ready.map(({ id }) => id));
    }
    return due.length;
  }
}
