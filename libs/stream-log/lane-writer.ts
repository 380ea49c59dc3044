import { Backoff } from '#libs/async/backoff.js';
import { endsWithin } from '#libs/async/deadline.js';
import { Faults } from '#libs/kernel/faults.js';
import { type LogRecord, type OnSettled, type StreamLog } from './stream-log.js';

/** Topic and key of a record. */
export interface Placed {
  readonly topic: string;
  readonly key: string;
}

/** A record that must reach the log, however long that takes, or an item that `pack` makes records of. */
export interface Pending<R extends Placed = LogRecord> {
  readonly record: R;
  /** Called once when the record is durable, with its offset, or null when its topic does not exist. Must not throw. */
  readonly settled: (offset: number | null) => void;
  /** Called before each attempt. After false the record is dropped without calling `settled`. Default: true. */
  readonly isWanted?: () => boolean;
}

/** A record that contains the next `count` waiting items. */
export interface PackedRecord {
  readonly record: LogRecord;
  readonly count: number;
}

export interface LaneWriterOptions<R extends Placed> {
  readonly log: Pick<StreamLog, 'publishEach'>;
  /** Packs the waiting items of one key into the records of one call. Called again when they are published again. */
  readonly pack: (waiting: readonly R[]) => readonly PackedRecord[];
  /** Name of the records in log lines about a refused lane, such as `attempts`. */
  readonly what: string;
  /** Made by `laneFaults`. All writers of a reader share it, so that one cause in many of them is one fault. */
  readonly faults: Pick<Faults, 'met'>;
  /** Called for every failed attempt. */
  readonly onFailure?: (() => void) | undefined;
  /** How long a record may wait to share a write with others. Default: not at all. */
  readonly lingerMs?: number;
}

export interface LaneLogger {
  error(fields: object, message: string): void;
}

const PAUSES = { firstMs: 100, longestMs: 5_000 };
/** Most records of one key in one call. */
const MAX_KEY = 512;
/** How long `room` waits for a lane on which the log does not answer. */
const PATIENCE_MS = 500;
/** Time without a failed attempt after which a fault is over. A log may need 30 s to refuse a record. */
const QUIET_MS = 60_000;

/** Reports once each cause for which the log refuses lanes, and its end. The caller closes it. */
export const laneFaults = (logger: LaneLogger | undefined): Faults =>
  new Faults({ say: (text, fields) => logger?.error(fields, text), quietMs: QUIET_MS });

/** `pack` for records that are published unchanged. */
export const eachAlone = (waiting: readonly LogRecord[]): readonly PackedRecord[] =>
  waiting.map((record) => ({ record, count: 1 }));

/** The records of one key of one topic. At most one call at a time has some of them, which keeps their order. */
interface Lane<R extends Placed> {
  readonly name: string;
  readonly topic: string;
  waiting: Pending<R>[];
  isBusy: boolean;
  readonly backoff: Backoff;
  retry?: NodeJS.Timeout;
}

/**
 * Retries each record until the log has written it. Records of one key reach the log in the order of `write`. A lane
 * that cannot be written delays only its own records (docs/adr/0046-lanes-are-written-apart.md). The caller awaits
 * `room` before it reads more, which bounds the records in memory.
 */
export class LaneWriter<R extends Placed = LogRecord> {
  private readonly lanes = new Map<string, Lane<R>>();
  /** Lanes that `room` waits for. Those that are late or whose records are refused are not among them. */
  private readonly prompt = new Set<Lane<R>>();
  private ready = new Set<Lane<R>>();
  private isScheduled = false;
  private state: 'open' | 'stopping' | 'stopped' = 'open';
  private count = 0;
  private wakers: (() => void)[] = [];

  constructor(private readonly options: LaneWriterOptions<R>) {}

  /** Adds a record. Records written in one turn of the event loop share a call. */
  write(pending: Pending<R>): void {
    if (this.state !== 'open') return;
    const { topic, key } = pending.record;
    const name = `${topic}\n${key}`;
    let lane = this.lanes.get(name);
    if (!lane) {
      lane = { name, topic, waiting: [], isBusy: false, backoff: new Backoff(PAUSES) };
      this.lanes.set(name, lane);
      this.prompt.add(lane);
    }
    lane.waiting.push(pending);
    this.count++;
    this.offer(lane);
  }

  /**
   * Resolves when more may be written: at most `most` records wait, and only in lanes that the log did not write within
   * PATIENCE_MS. Resolves at once after `stop`.
   */
  async room(most: number): Promise<void> {
    const isOver = (): boolean => this.state !== 'open' || this.prompt.size === 0;
    if (!isOver() && !(await endsWithin(this.until(isOver), PATIENCE_MS))) {
      this.prompt.clear();
      this.wake();
    }
    await this.until(() => this.state !== 'open' || this.count <= most);
  }

  /** Resolves when every record is durable or dropped. */
  idle(): Promise<void> {
    return this.until(() => this.count === 0);
  }

  /**
   * Accepts no more records and retries none. Resolves when each record is durable or refused, after `ms` at most.
   * Later answers of the log are ignored. The caller must read again what is not durable.
   */
  async stop(ms = 0): Promise<void> {
    if (this.state === 'open') this.state = 'stopping';
    for (const lane of this.lanes.values()) if (lane.retry !== undefined) this.drop(lane);
    this.wake();
    if (ms > 0) await endsWithin(this.idle(), ms);
    this.state = 'stopped';
    for (const lane of this.lanes.values()) this.drop(lane);
    this.count = 0;
    this.wake();
  }

  private offer(lane: Lane<R>): void {
    if (lane.isBusy || lane.retry !== undefined) return;
    this.ready.add(lane);
    if (this.isScheduled) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      this.send();
    });
  }

  private send(): void {
    const lanes = this.ready;
    this.ready = new Set();
    const records: LogRecord[] = [];
    const settle: ((outcome: number | null | Error) => void)[] = [];
    for (const lane of lanes) {
      const batch = this.next(lane);
      if (batch.length === 0) continue;
      lane.isBusy = true;
      const failed: Pending<R>[] = [];
      let failure: Error | undefined;
      let left = batch.length;
      let next = 0;
      for (const { record, count } of this.options.pack(batch.map((pending) => pending.record))) {
        const packed = batch.slice(next, (next += count));
        records.push(record);
        settle.push((outcome) => {
          if (this.state === 'stopped') return;
          if (outcome instanceof Error) {
            failure ??= outcome;
            failed.push(...packed);
          } else {
            this.count -= count;
            for (const { settled } of packed) settled(outcome);
          }
          left -= count;
          if (left === 0) this.answered(lane, failed, failure);
        });
      }
    }
    const { log, lingerMs = 0 } = this.options;
    const settled: OnSettled = (index, outcome) => settle[index]?.(outcome);
    if (records.length > 0) log.publishEach(records, settled, { lingerMs });
  }

  /** Returns the next records of a lane, without those that are dropped. */
  private next(lane: Lane<R>): readonly Pending<R>[] {
    const wanted = lane.waiting.filter(({ isWanted }) => isWanted?.() ?? true);
    this.count -= lane.waiting.length - wanted.length;
    const batch = wanted.slice(0, MAX_KEY);
    lane.waiting = wanted.slice(MAX_KEY);
    if (batch.length === 0) {
      this.drop(lane);
      this.wake();
    }
    return batch;
  }

  private answered(lane: Lane<R>, failed: readonly Pending<R>[], failure: Error | undefined): void {
    lane.isBusy = false;
    lane.waiting = failed.length === 0 ? lane.waiting : [...failed, ...lane.waiting];
    if (failure !== undefined) this.refused(lane, failure);
    else {
      lane.backoff.reset();
      if (lane.waiting.length === 0) this.drop(lane);
      else {
        this.prompt.add(lane);
        this.offer(lane);
      }
    }
    this.wake();
  }

  private refused(lane: Lane<R>, failure: Error): void {
    const { faults, onFailure, what } = this.options;
    onFailure?.();
    const fields = { err: failure, topic: lane.topic };
    faults.met(failure.message, `the log refuses ${what}: they are published again until it takes them`, fields);
    if (this.state !== 'open') {
      this.drop(lane);
      return;
    }
    this.prompt.delete(lane);
    lane.retry = setTimeout(() => {
      delete lane.retry;
      this.offer(lane);
    }, lane.backoff.next());
  }

  /** Forgets a lane and its waiting records. */
  private drop(lane: Lane<R>): void {
    clearTimeout(lane.retry);
    this.count -= lane.waiting.length;
    lane.waiting = [];
    this.lanes.delete(lane.name);
    this.prompt.delete(lane);
    this.ready.delete(lane);
  }

  private async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.wakers.push(resolve));
  }

  private wake(): void {
    for (const waker of this.wakers.splice(0)) waker();
  }
}
