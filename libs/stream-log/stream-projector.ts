import { type ProjectorStatus } from '#libs/kernel/projection.js';
import { CheckpointConflict, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { StreamFold } from './stream-fold.js';
import { type Consumer, type LaneBatch, type StoredRecord, type StreamLog } from './stream-log.js';
import { PoisonRecord, type StreamProjection } from './stream-projection.js';

export interface StreamProjectorOptions {
  readonly projection: StreamProjection;
  readonly log: StreamLog;
  readonly readModels: ReadModelStore;
  /** Called once when it stops for good, at a record that its projection cannot apply or because of a second owner. */
  readonly onFailure: (error: Error) => void;
  readonly maxBatch?: number;
  readonly maxUnacked?: number;
  /** Times to gather records of all lanes before one write, when few arrive and when many do. */
  readonly gatherMs?: number;
  readonly gatherManyMs?: number;
}

interface Pending {
  readonly batch: LaneBatch;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Waiter {
  readonly lane: string;
  readonly offset: number;
  readonly resolve: (applied: boolean) => void;
}

const READ = 1_000;
/** Records per millisecond above which it gathers longer, because only the newest of many are written. */
const MANY_PER_MS = 1;
const MAX_FORGOTTEN = 10_000;
/** Limit on characters of values in one write of several batches. It bounds memory and the hold on the event loop. */
const WRITE_CHARS = 4 << 20;

/**
 * Keeps one read model over the stream log, as consumer group `projector.<name>`. Writes the gathered batches of all
 * lanes together. Acknowledges a record once it is applied. One owner per read model.
 */
export class StreamProjector {
  private consumer: Consumer | undefined;
  private fold: StreamFold | undefined;
  private pending: Pending[] = [];
  private gathering: NodeJS.Timeout | undefined;
  /** Serializes writes: flushes, `forget`, the end of a rebuild. */
  private turn: Promise<void> = Promise.resolve();
  private readonly waiters = new Set<Waiter>();
  /** Deleted keys, whose records in flight must not bring documents back. */
  private readonly forgotten = new Set<string>();
  private failure: Error | undefined;
  /** Number of records in the last write, and the pause before it in milliseconds. */
  private flushed = 0;
  private paused = 10;

  constructor(private readonly options: StreamProjectorOptions) {}

  async start(): Promise<void> {
    const { projection, log, maxBatch = 256, maxUnacked = 1_024 } = this.options;
    await this.open();
    this.consumer = await log.consume({
      group: `projector.${projection.name}`,
      topics: { prefix: projection.prefix },
      maxBatch,
      maxUnacked,
      handler: (batch) => this.take(batch),
    });
  }

  status(): ProjectorStatus {
    const caughtUp = this.consumer !== undefined && this.consumer.backlog() === 0;
    const base = { name: this.options.projection.name, caughtUp, checkpoint: null };
    return this.failure ? { ...base, failure: this.failure.message } : base;
  }

  /** Number of records not yet applied. */
  backlog(): number {
    return this.consumer?.backlog() ?? 0;
  }

  /** Resolves to true once the record and all before it in its lane are applied, to false after `timeoutMs`. */
  async waitApplied(lane: string, offset: number, timeoutMs: number): Promise<boolean> {
    const fold = await this.open();
    if ((await fold.appliedTo(lane)) >= offset) return true;
    return new Promise((resolve) => {
      const done = (applied: boolean): void => {
        clearTimeout(timer);
        this.waiters.delete(waiter);
        resolve(applied);
      };
      const waiter: Waiter = { lane, offset, resolve: done };
      const timer = setTimeout(() => done(false), timeoutMs);
      this.waiters.add(waiter);
      this.wakeWaiters(fold);
      if (this.pending.length > 0) this.flushSoon(0);
    });
  }

  /** Drops the documents of records with this key (a source, a webhook), whose topics are deleted. Idempotent. */
  async forget(key: string, topics: readonly string[]): Promise<void> {
    this.remember(key);
    // A topic owned by one emitter has one partition, so it is its own lane.
    await this.inTurn(async () => (await this.open()).forget(key, topics));
  }

  /**
   * Reads the log from its oldest record into a new generation, then switches to it. Documents older than the log's
   * retention are lost. Resolves with the number of records read. Until then queries, and this projector if it runs,
   * use the former generation.
   */
  async rebuild(onProgress: (records: number) => void = () => undefined): Promise<number> {
    const { projection, readModels } = this.options;
    await this.open();
    const generation = await readModels.beginGeneration(projection.schema);
    const next = new StreamFold(projection, readModels, generation, null);
    const forgottenBefore = new Set(this.forgotten);
    let count = 0;
    const progress = (records: number): void => onProgress((count += records));
    await this.catchUp(next, progress);
    await this.inTurn(async () => {
      await this.catchUp(next, progress);
      for (const key of this.forgotten) if (!forgottenBefore.has(key)) await next.forget(key, []);
      await readModels.activateGeneration(projection.schema, generation);
      this.fold = next;
    });
    this.wakeWaiters(next);
    return count;
  }

  /** Stops consuming. Records taken and not yet applied come again. */
  async stop(): Promise<void> {
    clearTimeout(this.gathering);
    this.gathering = undefined;
    const pending = this.pending.splice(0);
    for (const { reject } of pending) reject(new Error(`projector ${this.options.projection.name} is stopping`));
    await this.consumer?.close();
    await this.turn;
    for (const waiter of [...this.waiters]) waiter.resolve(false);
  }

  private async open(): Promise<StreamFold> {
    if (this.fold) return this.fold;
    const { projection, readModels } = this.options;
    const { active, checkpoint } = await readModels.register(projection.schema);
    return (this.fold ??= new StreamFold(projection, readModels, active, checkpoint));
  }

  private take(batch: LaneBatch): Promise<void> {
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      this.pending.push({ batch, resolve, reject });
      if (this.waiters.size > 0) this.flushSoon(0);
      else if (this.gathering === undefined) this.flushSoon(this.pause());
    });
  }

  /** Gathers longer under load, because larger writes skip documents that come and go within one. Reads lag by it. */
  private pause(): number {
    const { gatherMs = 10, gatherManyMs = 250 } = this.options;
    this.paused = this.flushed >= MANY_PER_MS * this.paused ? Math.max(gatherMs, gatherManyMs) : gatherMs;
    return this.paused;
  }

  private flushSoon(ms: number): void {
    if (this.gathering !== undefined && ms > 0) return;
    clearTimeout(this.gathering);
    this.gathering = setTimeout(() => {
      this.gathering = undefined;
      void this.inTurn(() => this.flush());
    }, ms);
  }

  /** Never rejects. A failure rejects the batches of the write. */
  private async flush(): Promise<void> {
    const taken = this.pending.splice(0, batchesFor(this.pending, WRITE_CHARS));
    const live = taken.filter(({ batch }) => !batch.revoked());
    try {
      const fold = await this.open();
      const records = live.flatMap(({ batch }) => batch.records.filter(({ key }) => !this.forgotten.has(key)));
      this.flushed = records.length;
      await fold.apply(records);
      for (const { batch } of live) for (const { offset } of batch.records) batch.ack(offset);
      for (const { resolve } of taken) resolve();
      this.wakeWaiters(fold);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      if (failure instanceof CheckpointConflict || failure instanceof PoisonRecord) this.fail(failure);
      for (const { reject } of taken) reject(failure);
    }
    if (this.pending.length > 0 && !this.failure) this.flushSoon(0);
  }

  private async catchUp(fold: StreamFold, onProgress: (records: number) => void): Promise<void> {
    const { log, projection } = this.options;
    for (const topic of await log.topics(projection.prefix)) {
      for (const lane of await log.lanes(topic)) await this.catchUpLane(fold, lane, onProgress);
    }
  }

  private async catchUpLane(fold: StreamFold, lane: string, onProgress: (records: number) => void): Promise<void> {
    let after = await fold.appliedTo(lane);
    for (;;) {
      const records: readonly StoredRecord[] = await this.options.log.read(lane, after, READ);
      const last = records.at(-1);
      if (!last) return;
      await fold.apply(records);
      after = last.offset;
      onProgress(records.length);
    }
  }

  private wakeWaiters(fold: StreamFold): void {
    for (const waiter of [...this.waiters]) {
      if ((fold.knownAppliedTo(waiter.lane) ?? -1) >= waiter.offset) waiter.resolve(true);
    }
  }

  private remember(key: string): void {
    this.forgotten.add(key);
    const [oldest] = this.forgotten;
    if (this.forgotten.size > MAX_FORGOTTEN && oldest !== undefined) this.forgotten.delete(oldest);
  }

  private fail(error: Error): void {
    if (this.failure) return;
    this.failure = error;
    this.options.onFailure(error);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }
}

/** Number of batches that fit into one write, at least the first. */
const batchesFor = (pending: readonly Pending[], limit: number): number => {
  let chars = 0;
  const tooMany = pending.findIndex(({ batch }, index) => {
    for (const { value } of batch.records) chars += value.length;
    return index > 0 && chars > limit;
  });
  return tooMany < 0 ? pending.length : tooMany;
};
