import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { EntriesOnTheirWay, type Outgoing } from '#libs/stream-log/entries-on-their-way.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { handedOutRecord, isDelivery } from './delivery-records.js';
import { type DueRetry, type RetrySchedule, type ScheduledRetry, topicOf } from './retry-schedule.js';
import { type DeliveryLogger } from './webhook-settings.js';

const BATCH = 256;
/**
 * How long a delivery that was handed out may take to end before it is handed out again. It doubles each time, because
 * the lane may have a backlog that takes longer.
 */
const HANDED_OUT_MS = 60_000;
const MOST_DOUBLINGS = 6;

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
 * Moves what is due from the schedule to its topic: publish, then note that it is handed out, or remove it. A crash in
 * between repeats it. A delivery waits on while it is handed out, until the worker has ended it, so that a new worker
 * knows what newer events must not pass (docs/reference/delivery.md#ordered). Those of an owner whose lane cannot be
 * written stay in the schedule, in their order, and delay no others.
 */
export class RetryPump {
  private stopped = false;
  private running: Promise<void> | undefined;
  /** An entry that is due earlier ends the pause. */
  private wakeAt = 0;
  private readonly pause = new WakeablePause();
  private readonly onTheirWay: EntriesOnTheirWay<DueRetry>;

  constructor(private readonly options: RetryPumpOptions) {
    this.onTheirWay = new EntriesOnTheirWay({
      log: options.log,
      changed: () => this.pause.wake(),
      onFailure: (error, retryInMs) => this.failed(error, retryInMs),
    });
  }

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
    this.onTheirWay.close();
  }

  private async run(): Promise<void> {
    const { schedule, clock, pollMs } = this.options;
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
        // Those that are due may be of owners that must wait. When one need not, the pause ends.
        if (next !== undefined && next <= clock.now() && this.onTheirWay.owners().length > 0) next = undefined;
        until = Math.min(next ?? Infinity, clock.now() + pollMs);
        backoff.reset();
      } catch (error) {
        const retryInMs = backoff.next();
        this.failed(error, retryInMs);
        until = clock.now() + retryInMs;
      }
      const ms = until - clock.now();
      if (ms <= 0 || this.stopped) continue;
      this.wakeAt = until;
      await this.pause.wait(ms);
    }
  }

  /** Returns the number of entries that were read. */
  private async move(now: number): Promise<number> {
    const { schedule, topics, postpone } = this.options;
    // Before entries are read, or those of an owner that is free again would be published twice.
    await this.settleDurable();
    if (this.onTheirWay.isFull) return 0;
    const due = await schedule.due(now, BATCH, this.onTheirWay.owners());
    if (due.length === 0) return 0;
    const later: ScheduledRetry[] = [];
    const ready: Outgoing<DueRetry>[] = [];
    for (const entry of due) {
      const dueAt = postpone?.(entry);
      const topic = topicOf(entry, topics);
      const record = isDelivery(entry.record) ? handedOutRecord(entry, topic) : { ...entry.record, topic };
      if (dueAt === undefined) ready.push({ entry, owner: entry.owner, record });
      else later.push({ ...entry, dueAt });
    }
    if (later.length > 0) await schedule.put(later);
    await this.onTheirWay.publish(ready);
    await this.settleDurable();
    return due.length;
  }

  /** Hands out deliveries whose records are durable, and removes the other entries. */
  private async settleDurable(): Promise<void> {
    const written = this.onTheirWay.durable();
    if (written.length === 0) return;
    const { schedule, clock } = this.options;
    // An entry whose topic no longer exists is removed all the same.
    const [waiting, done] = [
      written.filter(({ entry, offset }) => offset !== null && isDelivery(entry.record)),
      written.filter(({ entry, offset }) => offset === null || !isDelivery(entry.record)),
    ];
    const now = clock.now();
    await schedule.handOut(waiting.map(({ entry }) => ({ entry, until: now + handedOutMs(entry) })));
    await schedule.remove(done.map(({ entry }) => entry.id));
    this.onTheirWay.removed(written);
  }

  private failed(error: unknown, retryInMs: number): void {
    this.options.onFailure?.();
    this.options.logger.error({ err: error, retryInMs }, 'cannot move due deliveries back to their topics');
  }
}

const handedOutMs = ({ handedOut }: DueRetry): number => HANDED_OUT_MS * 2 ** Math.min(handedOut, MOST_DOUBLINGS);
