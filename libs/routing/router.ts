import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Faults } from '#libs/kernel/faults.js';
import { type FreshTables } from '#libs/kernel/table-freshness.js';
import { type EmitHeaders, emitterHeaders } from '#libs/stream-log/envelopes.js';
import { type HandedOver } from '#libs/stream-log/handed-over.js';
import { eachAlone, laneFaults, type LaneLogger, LaneWriter } from '#libs/stream-log/lane-writer.js';
import { type LaneBatch, type LogRecord, type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { EMITS } from '#libs/stream-log/topics.js';
import { DelayedRouting, type DelayedRoutingOptions } from './delayed-routing.js';
import { CommitRouting } from './commit-routing.js';
import {
  countRouted,
  EmitRouter,
  type EmitRouterOptions,
  hasOwnLane,
  noRouterMetrics,
  type RouterMetrics,
} from './emit-router.js';
import { Examination } from './event-filter.js';
import { type Emit, loopOverflowError, type Routed } from './route-emit.js';

export interface RouterOptions extends EmitRouterOptions {
  readonly log: StreamLog;
  /** Counts the emits that this process has in flight. */
  readonly handedOver: HandedOver;
  /** Store of the delayed events. */
  readonly delayed: DelayedRoutingOptions['delayed'];
  readonly due: DelayedRoutingOptions['due'];
  /** An emit is looked up only once, so it waits until these say that `table` is current. */
  readonly tables: FreshTables;
  readonly clock: Clock;
  readonly maxBatch?: number;
  readonly maxUnacked?: number;
  /** Number of records at which a batch is published. It bounds the memory of a wide fan-out. */
  readonly maxPublish?: number;
  /** Records of one emitter that may wait for listeners whose lanes cannot be written. */
  readonly maxWaiting?: number;
  readonly logger?: LaneLogger;
}

export interface Router {
  readonly metrics: Readonly<RouterMetrics>;
  /** Emits not yet routed. */
  backlog(): number;
  unreadBytesOf(lane: string): number;
  /** Emits of one source not yet routed; 0 when sources share lanes. */
  unroutedOf(sourceId: string): number;
  /** Routing within the commits of runners of the same process. */
  readonly atCommit: CommitRouting;
  /** Number of failed batches, and of failed publications to a listener. */
  failures(): number;
  close(): Promise<void>;
}

/** Longest wait for records in flight when a lane is revoked or the router closes. */
const LAST_RECORDS_MS = 2_000;

/**
 * Role `router`: step 4 of the path of an event (docs/architecture.md). Acknowledges an emit once all its records are
 * durable. An emit that is routed again after a crash makes records with the same ids. A listener whose lane cannot be
 * written delays no other: its records wait and are retried on their own (docs/adr/0046-lanes-are-written-apart.md).
 */
export const startRouter = async (options: RouterOptions): Promise<Router> => {
  const { log, topics, tables, clock, handedOver, maxBatch = 64, maxUnacked = 1_024 } = options;
  const metrics = noRouterMetrics();
  const unroutedOf = (sourceId: string): number =>
    hasOwnLane(topics, sourceId) ? consumer.backlogOf(topics.emits(sourceId)) : 0;
  const emits = new EmitRouter(options, unroutedOf);
  const routing = new Routing(options, metrics, emits);
  const consumer = await log.consume(
    handedOver.counting({
      group: 'router',
      topics: { prefix: EMITS },
      maxBatch,
      maxUnacked,
      async handler(batch) {
        if (!(await tables.holdAnswered(() => batch.revoked()))) return;
        await routing.batch(batch);
      },
      onRevoked: (lane) => routing.revoked(lane),
    }),
  );
  return {
    metrics,
    backlog: () => consumer.backlog(),
    unreadBytesOf: (lane) => consumer.unreadBytesOf(lane),
    unroutedOf,
    atCommit: new CommitRouting({ emits, tables, clock, unroutedOf, metrics }),
    failures: () => consumer.failures() + routing.failures,
    async close() {
      await routing.close();
      await consumer.close();
    },
  };
};

/** One lane of emits that this router owns. */
interface RoutedLane {
  /** Writes to the lanes of the listeners. */
  readonly writer: LaneWriter;
  /** Offsets of emits whose records are not all durable. After a failed batch the log redelivers these emits. */
  readonly open: Set<number>;
}

/** The lanes of emits that this router owns, and the records that it writes for them. */
class Routing {
  failures = 0;
  private closing = false;
  private readonly lanes = new Map<string, RoutedLane>();
  private readonly faults: Faults;

  constructor(
    private readonly options: RouterOptions,
    private readonly metrics: RouterMetrics,
    private readonly emits: EmitRouter,
  ) {
    this.faults = laneFaults(options.logger);
  }

  async batch(batch: LaneBatch): Promise<void> {
    const isOver = (): boolean => this.closing || batch.revoked();
    if (isOver()) return;
    await new BatchRouting(
      { ...batch, revoked: isOver },
      this.laneOf(batch.lane),
      this.options,
      this.metrics,
      this.emits,
    ).run();
  }

  async revoked(name: string): Promise<void> {
    const lane = this.lanes.get(name);
    this.lanes.delete(name);
    await lane?.writer.stop(LAST_RECORDS_MS);
  }

  /** Stops routing. The next router routes again what does not become durable in time. */
  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.lanes.values()].map(({ writer }) => writer.stop(LAST_RECORDS_MS)));
    this.faults.close();
  }

  private laneOf(name: string): RoutedLane {
    let lane = this.lanes.get(name);
    if (!lane) {
      const { faults, options } = this;
      const { log } = options;
      const onFailure = (): void => void this.failures++;
      const what = 'events for a listener';
      lane = { writer: new LaneWriter({ log, pack: eachAlone, what, faults, onFailure }), open: new Set() };
      this.lanes.set(name, lane);
    }
    return lane;
  }
}

/** Pauses of a held emitter. They grow, because a listener may stay full for a long time. */
const HELD_PAUSES = { firstMs: 5, longestMs: 100 };

type StoredEmit = StoredRecord & { readonly headers: EmitHeaders };

class BatchRouting {
  private out: { readonly offset: number; readonly records: readonly LogRecord[] }[] = [];
  /** Number of records in `out`. */
  private size = 0;
  /** Listeners for which the emitter already got an error event. */
  private readonly told = new Set<string>();
  private readonly heldBackoff = new Backoff(HELD_PAUSES);
  private readonly now: number;
  private readonly delays: DelayedRouting;

  constructor(
    private readonly batch: LaneBatch,
    private readonly lane: RoutedLane,
    private readonly options: RouterOptions,
    private readonly metrics: RouterMetrics,
    private readonly emits: EmitRouter,
  ) {
    this.now = options.clock.now();
    const { log, topics, delayed, due } = options;
    this.delays = new DelayedRouting({ log, topics, delayed, due });
  }

  async run(): Promise<void> {
    const { batch, metrics } = this;
    for (const record of batch.records) {
      if (batch.revoked()) return;
      if (this.lane.open.has(record.offset)) continue;
      const headers = emitterHeaders(record);
      if (headers.kind === 'runs') {
        batch.ack(record.offset);
        continue;
      }
      if (headers.kind !== 'emit') {
        await this.control(record);
        continue;
      }
      // The commit already wrote the records of its listeners.
      if (headers.routed !== undefined) {
        batch.ack(record.offset);
        continue;
      }
      const emit = { ...record, headers };
      const routed = await this.routed(emit);
      if (batch.revoked()) return;
      metrics.emits++;
      this.add(record.offset, routed ? this.recordsOf(emit, routed) : []);
      if (this.size >= (this.options.maxPublish ?? 256)) await this.flush();
    }
    await this.flush();
  }

  /** Handles a record that goes to no listener. */
  private async control(record: StoredRecord): Promise<void> {
    this.metrics.emits++;
    this.delays.add(record);
    this.add(record.offset, []);
    if (this.delays.size >= (this.options.maxPublish ?? 256)) await this.flush();
  }

  /**
   * Examines filters over as many turns of the event loop as they need, and waits while a listener has no room. The
   * emit then goes to all of its listeners at once, by the table of that moment. Returns undefined for a record that
   * throws.
   */
  private async routed(record: StoredEmit): Promise<Routed | undefined> {
    const examination = new Examination(record.value);
    let routed = this.route(record, examination);
    let isHeld = false;
    while (routed && (routed.isUnexamined || routed.heldFor !== undefined) && !this.batch.revoked()) {
      if (routed.isUnexamined) await examination.later(record.headers.workspace);
      else {
        if (!isHeld) this.startHeld();
        isHeld = true;
        await this.flush();
        await pause(this.heldBackoff.next());
      }
      routed = this.route(record, examination);
    }
    return routed;
  }

  private startHeld(): void {
    this.metrics.held++;
    this.heldBackoff.reset();
  }

  /** Returns undefined for a record that throws, because a retry would throw again and block all records behind it. */
  private route(record: StoredEmit, examination: Examination): Routed | undefined {
    try {
      return this.emits.route(record, this.now, examination);
    } catch (error) {
      this.metrics.poisoned++;
      const fields = { lane: record.lane, offset: record.offset, emit: record.headers.emit, error: String(error) };
      this.options.logger?.error(fields, 'router.record_skipped: it cannot be routed');
      return undefined;
    }
  }

  private recordsOf(emit: Emit, { records, hopLimited, givenUp }: Routed): readonly LogRecord[] {
    const { metrics, options } = this;
    metrics.loopsGivenUp += givenUp.length;
    if (hopLimited) metrics.hopLimited++;
    const errors: LogRecord[] = [];
    for (const listenerId of givenUp) {
      // One error event per listener and batch, because a batch may drop thousands of emits.
      if (this.told.has(listenerId)) continue;
      this.told.add(listenerId);
      const limit = options.listeners?.loopLimit ?? 0;
      errors.push(loopOverflowError(emit, listenerId, limit, options.topics));
    }
    return errors.length === 0 ? records : [...records, ...errors];
  }

  private add(offset: number, records: readonly LogRecord[]): void {
    this.out.push({ offset, records });
    this.size += records.length;
  }

  private async flush(): Promise<void> {
    const { out, batch, lane, options } = this;
    this.out = [];
    this.size = 0;
    if (this.delays.size > 0) await this.delays.flush();
    for (const { offset, records } of out) {
      if (records.length === 0) batch.ack(offset);
      else this.publish(offset, records);
    }
    await lane.writer.room(options.maxWaiting ?? 1_024);
  }

  /** Acknowledges the emit once all of its records are durable. */
  private publish(offset: number, records: readonly LogRecord[]): void {
    const { batch, metrics } = this;
    const { writer, open } = this.lane;
    let left = records.length;
    open.add(offset);
    for (const record of records) {
      const settled = (at: number | null): void => {
        if (at === null) metrics.dropped++;
        else countRouted(metrics, record);
        if (--left > 0) return;
        open.delete(offset);
        batch.ack(offset);
      };
      writer.write({ record, settled });
    }
  }
}
