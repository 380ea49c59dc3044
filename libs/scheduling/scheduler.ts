import { Backoff } from '#libs/async/backoff.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Faults } from '#libs/kernel/faults.js';
import { type Timer } from '#libs/sources/published.js';
import { timerInvocation, type TickedTrigger } from '#libs/stream-log/invocations.js';
import { eachAlone, laneFaults, type LaneLogger, LaneWriter } from '#libs/stream-log/lane-writer.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { DueHeap } from './due-heap.js';
import { firstDue, nextTick } from './next-tick.js';
import { tickEvent } from './tick-event.js';
import { type TickStore } from './tick-store.js';

/** A timer of a source or, with a trigger, of a workflow. */
export interface ArmedTimer extends Timer {
  readonly trigger?: TimerTrigger;
}

/** Armed timers of a source or workflow. The list is empty while that is inactive, being changed, or deleted. */
export interface ArmedTimers {
  readonly sourceId: string;
  readonly workspaceId: string;
  readonly timers: readonly ArmedTimer[];
  /** Epoch milliseconds of the arming, which a restart does not change. A trigger has its own. */
  readonly since: number;
  /**
   * Whether the deployment of the source armed them. Interval timers then tick at once
   * (docs/reference/component-model.md#timer-first-tick).
   */
  readonly first: boolean;
}

/** The trigger of a workflow that is a timer. */
export interface TimerTrigger extends TickedTrigger {
  /** Epoch milliseconds from which its intervals count. */
  readonly since: number;
}

/** View of the sources and workflows in the event log, in memory. It must have applied the whole log before the scheduler starts. */
export interface TimerSources {
  ids(): Iterable<string>;
  armed(sourceId: string): ArmedTimers | undefined;
  /** Returns a function that removes the listener. */
  onTimersChanged(listener: (armed: ArmedTimers) => void): () => void;
}

/** Calls `ring` once after `ms` milliseconds. Returns a function that cancels it. */
export type Alarm = (ms: number, ring: () => void) => () => void;

export const systemAlarm: Alarm = (ms, ring) => {
  const timer = setTimeout(ring, ms);
  return () => clearTimeout(timer);
};

export interface SchedulerOptions {
  readonly sources: TimerSources;
  readonly ticks: TickStore;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly clock: Clock;
  readonly alarm?: Alarm;
  readonly logger: LaneLogger;
}

export interface SchedulerMetrics {
  /** Number of published ticks. */
  ticks: number;
  /** Number of ticks dropped because their source's topic was deleted. */
  dropped: number;
  failures: number;
}

export interface Scheduler {
  readonly metrics: Readonly<SchedulerMetrics>;
  /** Number of armed timers. */
  size(): number;
  /** Stops publishing ticks and waits for writes in flight. */
  close(): Promise<void>;
}

/** Starts the role `scheduler`, which turns the timers of sources and workflows into invocations. */
export const startScheduler = async (options: SchedulerOptions): Promise<Scheduler> => {
  const scheduler = new TimerScheduler(options, await options.ticks.load());
  scheduler.start();
  return scheduler;
};

interface Entry {
  readonly key: string;
  readonly armed: ArmedTimers;
  readonly timer: ArmedTimer;
  /** Scheduled time in epoch milliseconds, which may be past. */
  readonly dueAt: number;
}

/**
 * Longest time between two readings of the clock, which may be set or jump while the machine sleeps. Node's timers
 * could not wait longer than 2^31 ms anyway.
 */
const MAX_WAIT_MS = 60_000;
const BATCH = 500;
const SLACK = 1_000;
const RETRIES = { firstMs: 100, longestMs: 10_000 };
/** Longest wait at the close for ticks that are being written to the log. */
const LAST_TICKS_MS = 500;

class TimerScheduler implements Scheduler {
  readonly metrics: SchedulerMetrics = { ticks: 0, dropped: 0, failures: 0 };
  /**
   * Entries by due time, with one alarm for the earliest. Disarmed entries stay until they fall due or become too many.
   */
  private readonly heap = new DueHeap<Entry>();
  private readonly live = new Map<string, Entry>();
  private readonly keysOf = new Map<string, readonly string[]>();
  private callOff: (() => void) | undefined;
  private stopListening: (() => void) | undefined;
  private ringing: Promise<void> = Promise.resolve();
  private busy = false;
  private closed = false;
  /** Grows the pauses while ticks cannot be stored. */
  private readonly backoff = new Backoff(RETRIES);
  private readonly faults: Faults;
  private readonly writer: LaneWriter;
  /** Ticks that the log has and the store does not have yet. */
  private published: (readonly [Entry, offset: number | null])[] = [];
  private storing: Promise<void> | undefined;
  /** Least time until the next alarm, after a failure. */
  private retryMs = 0;
  /** Time of the last tick of each timer, by source and prop. */
  private readonly lastTicks = new Map<string, Map<string, number>>();

  constructor(
    private readonly options: SchedulerOptions,
    stored: ReadonlyMap<string, number>,
  ) {
    const { log, logger } = options;
    this.faults = laneFaults(logger);
    const onFailure = (): void => void this.metrics.failures++;
    this.writer = new LaneWriter({ log, pack: eachAlone, what: 'ticks', faults: this.faults, onFailure });
    for (const [key, at] of stored) {
      const slash = key.indexOf('/');
      this.ticked(key.slice(0, slash), key.slice(slash + 1), at);
    }
  }

  start(): void {
    const { sources } = this.options;
    this.stopListening = sources.onTimersChanged((armed) => {
      this.arm(armed);
      this.setAlarm();
    });
    for (const sourceId of sources.ids()) {
      const armed = sources.armed(sourceId);
      if (armed) this.arm(armed);
    }
    this.setAlarm();
  }

  size(): number {
    return this.live.size;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.stopListening?.();
    this.callOff?.();
    await this.writer.stop(LAST_TICKS_MS);
    this.faults.close();
    await this.ringing;
    await this.storing;
  }

  private arm(armed: ArmedTimers): void {
    const { sourceId, timers, since, first } = armed;
    for (const key of this.keysOf.get(sourceId) ?? []) this.live.delete(key);
    this.keysOf.delete(sourceId);
    // The source was deleted, and its stored ticks with it.
    if (this.options.sources.armed(sourceId) === undefined) this.lastTicks.delete(sourceId);
    if (timers.length > 0)
      this.keysOf.set(
        sourceId,
        timers.map(({ prop }) => `${sourceId}/${prop}`),
      );
    for (const timer of timers) {
      const key = `${sourceId}/${timer.prop}`;
      const from = timer.trigger?.since ?? since;
      this.schedule(key, armed, timer, firstDue(timer, from, this.lastTicks.get(sourceId)?.get(timer.prop), first));
    }
  }

  private schedule(key: string, armed: ArmedTimers, timer: ArmedTimer, dueAt: number | undefined): void {
    if (dueAt === undefined) {
      this.live.delete(key);
      return;
    }
    const entry = { key, armed, timer, dueAt };
    this.live.set(key, entry);
    this.heap.push(entry);
    if (this.heap.size > 2 * this.live.size + SLACK) this.heap.filter((other) => this.live.get(other.key) === other);
  }

  private setAlarm(): void {
    // No alarm is needed while ticks are being written, because `ring` sets the next one.
    if (this.busy || this.closed) return;
    this.callOff?.();
    this.callOff = undefined;
    const earliest = this.earliest();
    if (!earliest) return;
    const wait = Math.max(this.retryMs, earliest.dueAt - this.options.clock.now());
    const { alarm = systemAlarm } = this.options;
    this.callOff = alarm(Math.min(wait, MAX_WAIT_MS), () => {
      this.ringing = this.ring();
    });
  }

  private earliest(): Entry | undefined {
    for (;;) {
      const entry = this.heap.peek();
      if (!entry || this.live.get(entry.key) === entry) return entry;
      this.heap.pop();
    }
  }

  /** Never rejects. */
  private async ring(): Promise<void> {
    this.callOff = undefined;
    this.busy = true;
    const now = this.options.clock.now();
    const due: Entry[] = [];
    for (let next = this.earliest(); next && next.dueAt <= now && due.length < BATCH; next = this.earliest()) {
      due.push(next);
      this.heap.pop();
    }
    if (due.length > 0) await this.publish(due);
    this.busy = false;
    this.setAlarm();
  }

  /**
   * Publishes the invocations, whose ids derive from source, prop and scheduled time, and then stores the ticks. A
   * crash in between publishes an invocation again, which the runner recognizes by its id. The next ticks count from
   * now, so missed ones are skipped. A timer whose lane cannot be written gets no later tick until this one is in the
   * log, and delays no other timer.
   */
  private async publish(due: readonly Entry[]): Promise<void> {
    for (const entry of due) {
      const settled = (offset: number | null): void => {
        this.published.push([entry, offset]);
        this.storing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.store());
      };
      const isWanted = (): boolean => this.live.get(entry.key) === entry;
      this.writer.write({ record: invocationOf(entry, this.options.topics), settled, isWanted });
    }
    await this.writer.room(Infinity);
    await this.storing;
  }

  /** Never rejects. */
  private async store(): Promise<void> {
    const { ticks, clock, logger } = this.options;
    while (this.published.length > 0) {
      const published = this.published.splice(0);
      const now = clock.now();
      // A tick with the offset null has lost its topic, which was deleted with the source.
      const stored = published.filter(([, offset]) => offset !== null);
      try {
        await ticks.save(new Map(stored.map(([{ key }]) => [key, now])));
        this.retryMs = 0;
        this.backoff.reset();
      } catch (error) {
        this.retryMs = this.backoff.next();
        this.metrics.failures++;
        logger.error({ err: error, retryInMs: this.retryMs }, 'cannot store the last ticks of timers');
        for (const [entry] of published) if (this.live.get(entry.key) === entry) this.heap.push(entry);
        continue;
      }
      for (const [entry, offset] of published) this.settled(entry, offset, now);
    }
    this.storing = undefined;
    this.setAlarm();
  }

  private settled(entry: Entry, offset: number | null, now: number): void {
    const { key, armed, timer } = entry;
    if (offset === null) this.metrics.dropped++;
    else this.metrics.ticks++;
    this.ticked(armed.sourceId, timer.prop, now);
    // `arm` has already handled a timer that was disarmed or armed again during the write.
    if (this.live.get(key) === entry)
      this.schedule(key, armed, timer, nextTick(timer, timer.trigger?.since ?? armed.since, now));
  }

  private ticked(sourceId: string, prop: string, at: number): void {
    // The source may have been deleted in the meantime.
    if (this.options.sources.armed(sourceId) === undefined) return;
    const ofSource = this.lastTicks.get(sourceId) ?? new Map<string, number>();
    this.lastTicks.set(sourceId, ofSource.set(prop, at));
  }
}

const invocationOf = ({ armed, timer, dueAt }: Entry, topics: TopicPolicy): LogRecord => {
  const { sourceId, workspaceId } = armed;
  const event = tickEvent(timer, dueAt);
  return timerInvocation(topics, { sourceId, workspaceId, prop: timer.prop, dueAt, event }, timer.trigger);
};
