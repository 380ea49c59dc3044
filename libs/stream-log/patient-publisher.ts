import { Backoff } from '#libs/async/backoff.js';
import { type LogRecord, type OnSettled, type StreamLog } from './stream-log.js';

/** What has a place in the log. */
export interface Placed {
  readonly topic: string;
  readonly key: string;
}

/** A record that must come into the log, however long that takes, or what `pack` makes records of. */
export interface Patient<R extends Placed = LogRecord> {
  readonly record: R;
  /** Called once, when the record is durable: with its offset, or null when its topic does not exist. Must not throw. */
  readonly settled: (offset: number | null) => void;
  /** Asked before each attempt. After false the record is given up, and `settled` is not called. Default: true. */
  readonly isWanted?: () => boolean;
}

/** A record for the next `count` ones of those that wait. */
export interface PackedRecord {
  readonly record: LogRecord;
  readonly count: number;
}

export interface PatientPublisherOptions<R extends Placed = LogRecord> {
  readonly log: Pick<StreamLog, 'publishEach'>;
  /** Makes the records of one call of those of one key that wait. Asked again when they are published again. */
  readonly pack: (waiting: readonly R[]) => readonly PackedRecord[];
  readonly onFailure: (error: Error, topic: string, retryInMs: number) => void;
  /** How long a record may wait for others to be written with. Default: not at all. */
  readonly lingerMs?: number;
}

const PAUSES = { firstMs: 100, longestMs: 5_000 };
/** Records of one key in one call. */
const MAX_KEY = 512;

/** `pack` for records that stay as they are. */
export const eachAlone = (waiting: readonly LogRecord[]): readonly PackedRecord[] =>
  waiting.map((record) => ({ record, count: 1 }));

/** The records of one key of one topic. At most one call has some of them, so that they keep their order. */
interface Lane<R extends Placed> {
  readonly name: string;
  readonly topic: string;
  waiting: Patient<R>[];
  isBusy: boolean;
  readonly backoff: Backoff;
  retry?: NodeJS.Timeout;
}

/**
 * Publishes each record until the log takes it. Records of one key come into the log in the order of `push`. Keys are
 * independent: a lane that cannot be written delays its own records only. The caller bounds how many wait.
 */
export class PatientPublisher<R extends Placed = LogRecord> {
  private readonly lanes = new Map<string, Lane<R>>();
  private ready = new Set<Lane<R>>();
  private scheduled = false;
  private abandoned = false;
  private count = 0;
  private idlers: (() => void)[] = [];

  constructor(private readonly options: PatientPublisherOptions<R>) {}

  /** Records pushed in one turn go in one call. */
  push(patient: Patient<R>): void {
    if (this.abandoned) return;
    const { topic, key } = patient.record;
    const name = `${topic}\n${key}`;
    let lane = this.lanes.get(name);
    if (!lane) {
      lane = { name, topic, waiting: [], isBusy: false, backoff: new Backoff(PAUSES) };
      this.lanes.set(name, lane);
    }
    lane.waiting.push(patient);
    this.count++;
    this.offer(lane);
  }

  /** Resolves when every record is durable or given up. */
  async idle(): Promise<void> {
    while (this.count > 0) await new Promise<void>((resolve) => this.idlers.push(resolve));
  }

  /** Gives up what is not durable. What is on its way may still come into the log. */
  abandon(): void {
    this.abandoned = true;
    for (const { retry } of this.lanes.values()) clearTimeout(retry);
    this.lanes.clear();
    this.ready.clear();
    this.less(this.count);
  }

  private offer(lane: Lane<R>): void {
    if (lane.isBusy || lane.retry !== undefined) return;
    this.ready.add(lane);
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.send();
    });
  }

  private send(): void {
    const lanes = this.ready;
    this.ready = new Set();
    const records: LogRecord[] = [];
    const settle: ((outcome: number | null | Error) => void)[] = [];
    for (const lane of lanes) {
      const batch = this.take(lane);
      if (batch.length === 0) continue;
      lane.isBusy = true;
      const failed: Patient<R>[] = [];
      let failure: Error | undefined;
      let left = batch.length;
      let next = 0;
      for (const { record, count } of this.options.pack(batch.map((patient) => patient.record))) {
        const packed = batch.slice(next, (next += count));
        records.push(record);
        settle.push((outcome) => {
          if (this.abandoned) return;
          if (outcome instanceof Error) {
            failure ??= outcome;
            failed.push(...packed);
          } else for (const patient of packed) this.settled(patient, outcome);
          left -= count;
          if (left === 0) this.answered(lane, failed, failure);
        });
      }
    }
    const { log, lingerMs = 0 } = this.options;
    const settled: OnSettled = (index, outcome) => settle[index]?.(outcome);
    if (records.length > 0) log.publishEach(records, settled, { lingerMs });
  }

  /** The next records of a lane, without those that are given up. */
  private take(lane: Lane<R>): readonly Patient<R>[] {
    const wanted = lane.waiting.filter(({ isWanted }) => isWanted?.() ?? true);
    this.less(lane.waiting.length - wanted.length);
    const batch = wanted.slice(0, MAX_KEY);
    lane.waiting = wanted.slice(MAX_KEY);
    if (batch.length === 0) this.lanes.delete(lane.name);
    return batch;
  }

  private settled(patient: Patient<R>, offset: number | null): void {
    patient.settled(offset);
    this.less(1);
  }

  private answered(lane: Lane<R>, failed: readonly Patient<R>[], failure: Error | undefined): void {
    lane.isBusy = false;
    if (failure === undefined) {
      lane.backoff.reset();
      if (lane.waiting.length > 0) this.offer(lane);
      else this.lanes.delete(lane.name);
      return;
    }
    lane.waiting = [...failed, ...lane.waiting];
    const retryInMs = lane.backoff.next();
    this.options.onFailure(failure, lane.topic, retryInMs);
    lane.retry = setTimeout(() => {
      delete lane.retry;
      this.offer(lane);
    }, retryInMs);
  }

  private less(by: number): void {
    this.count -= by;
    if (by === 0 || this.count > 0) return;
    for (const idler of this.idlers.splice(0)) idler();
  }
}
