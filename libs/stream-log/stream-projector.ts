import { SerialQueue } from '#libs/async/serial-queue.js';
import { type ProjectorStatus } from '#libs/kernel/projection.js';
import { CheckpointConflict, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { AppliedWaiters } from './applied-waiters.js';
import { foldLog } from './fold-log.js';
import { GatheredBatches } from './gathered-batches.js';
import { StreamFold } from './stream-fold.js';
import { type Consumer, type LaneBatch, type StreamLog } from './stream-log.js';
import { PoisonRecord, type StreamProjection } from './stream-projection.js';
import { asError } from '#libs/kernel/error-message.js';

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

/** Consumer group of the projector of a read model. */
export const projectorGroup = (readModel: string): string => `projector.${readModel}`;

const MAX_FORGOTTEN = 10_000;

/**
 * Keeps one read model over the stream log, as consumer group `projector.<name>`. Writes the gathered batches of all
 * lanes together. Acknowledges a record once it is applied. One owner per read model.
 */
export class StreamProjector {
  private consumer: Consumer | undefined;
  private fold: StreamFold | undefined;
  private readonly gathered: GatheredBatches;
  private readonly waiters = new AppliedWaiters();
  /** Writes: flushes, `forget`, the end of a rebuild. */
  private readonly writes = new SerialQueue();
  /** Deleted keys, whose records in flight must not bring documents back. */
  private readonly forgotten = new Set<string>();
  private failure: Error | undefined;

  constructor(private readonly options: StreamProjectorOptions) {
    const { gatherMs, gatherManyMs } = options;
    const onDue = (): void => void this.writes.run(() => this.flush());
    this.gathered = new GatheredBatches({ gatherMs, gatherManyMs, onDue });
  }

  async start(): Promise<void> {
    const { projection, log, maxBatch = 256, maxUnacked = 1_024 } = this.options;
    await this.open();
    this.consumer = await log.consume({
      group: projectorGroup(projection.name),
      topics: { prefix: projection.prefix },
      maxBatch,
      maxUnacked,
      handler: (batch) => this.gather(batch),
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
    const applied = this.waiters.wait(lane, offset, timeoutMs);
    this.wakeWaiters(fold);
    this.gathered.hurry();
    return applied;
  }

  /** Drops the documents of records with this key (a source, a webhook), whose topics are deleted. Idempotent. */
  async forget(key: string, topics: readonly string[]): Promise<void> {
    this.remember(key);
    // A topic owned by one emitter has one partition, so it is its own lane.
    await this.writes.run(async () => (await this.open()).forget(key, topics));
  }

  /**
   * Reads the log from its oldest record into a new generation, then switches to it. Documents older than the log's
   * retention are lost. Resolves with the number of records read. Until then queries, and this projector if it runs,
   * use the former generation.
   */
  async rebuild(onProgress: (records: number) => void = () => undefined): Promise<number> {
    const { projection, readModels, log } = this.options;
    await this.open();
    const generation = await readModels.beginGeneration(projection.schema);
    const next = new StreamFold(projection, readModels, generation, null);
    const forgottenBefore = new Set(this.forgotten);
    let count = 0;
    const progress = (records: number): void => onProgress((count += records));
    await foldLog(log, projection.prefix, next, progress);
    await this.writes.run(async () => {
      await foldLog(log, projection.prefix, next, progress);
      for (const key of this.forgotten) if (!forgottenBefore.has(key)) await next.forget(key, []);
      await readModels.activateGeneration(projection.schema, generation);
      this.fold = next;
    });
    this.wakeWaiters(next);
    return count;
  }

  /** Stops consuming. Records handed over and not yet applied come again. */
  async stop(): Promise<void> {
    this.gathered.stop(new Error(`projector ${this.options.projection.name} is stopping`));
    await this.consumer?.close();
    await this.writes.idle();
    this.waiters.giveUp();
  }

  private async open(): Promise<StreamFold> {
    if (this.fold) return this.fold;
    const { projection, readModels } = this.options;
    const { active, checkpoint } = await readModels.register(projection.schema);
    return (this.fold ??= new StreamFold(projection, readModels, active, checkpoint));
  }

  private gather(batch: LaneBatch): Promise<void> {
    if (this.failure) return Promise.reject(this.failure);
    return this.gathered.add(batch, this.waiters.size > 0);
  }

  /** Never rejects. A failure rejects the batches of the write. */
  private async flush(): Promise<void> {
    const gathered = this.gathered.shift();
    const live = gathered.filter(({ batch }) => !batch.revoked());
    try {
      const fold = await this.open();
      const records = live.flatMap(({ batch }) => batch.records.filter(({ key }) => !this.forgotten.has(key)));
      this.gathered.wrote(records.length);
      await fold.apply(records);
      for (const { batch } of live) for (const { offset } of batch.records) batch.ack(offset);
      for (const { resolve } of gathered) resolve();
      this.wakeWaiters(fold);
    } catch (error) {
      const failure = asError(error);
      if (failure instanceof CheckpointConflict || failure instanceof PoisonRecord) this.fail(failure);
      for (const { reject } of gathered) reject(failure);
    }
    if (!this.failure) this.gathered.hurry();
  }

  private wakeWaiters(fold: StreamFold): void {
    this.waiters.wake((lane) => fold.knownAppliedTo(lane));
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
}
