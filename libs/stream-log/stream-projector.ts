import { Backoff } from '#libs/async/backoff.js';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { type ProjectorStatus } from '#libs/kernel/projection.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { AppliedWaiters } from './applied-waiters.js';
import { foldLog } from './fold-log.js';
import { ForgottenKeys } from './forgotten-keys.js';
import { GatheredBatches, type GatheredLane } from './gathered-batches.js';
import { LaneLost, lanesOfOneProcess, type LaneWrites } from './lane-writes.js';
import { newestRecords } from './newest-records.js';
import { StreamFold } from './stream-fold.js';
import { type Consumer, type LaneBatch, type StoredRecord, type StreamLog } from './stream-log.js';
import { PoisonRecord, type StreamProjection } from './stream-projection.js';
import { asError } from '#libs/kernel/error-message.js';

export interface StreamProjectorOptions {
  readonly projection: StreamProjection;
  readonly log: StreamLog;
  readonly readModels: ReadModelStore;
  /** Where several processes write the read model. Default: this one is the only one that does. */
  readonly lanes?: LaneWrites | undefined;
  /** Called once when it stops for good, at a record that its projection cannot apply. */
  readonly onFailure: (error: Error) => void;
  readonly maxBatch?: number;
  readonly maxUnacked?: number;
  /** Times to gather records of all lanes before one write, when few arrive and when many do. */
  readonly gatherMs?: number;
  readonly gatherManyMs?: number;
}

/** With twice as many unacknowledged, and a write in 250 ms under load, a lane takes 16,000 records a second. */
const MAX_BATCH = 2_048;
/** Pauses after a failed write. */
const PAUSES = { firstMs: 100, longestMs: 10_000 };

/** Consumer group of the projector of a read model. */
export const projectorGroup = (readModel: string): string => `projector.${readModel}`;

/** Each loss of a lane is the work of another process, which then has what it wanted. */
const ATTEMPTS = 20;

/**
 * Keeps the lanes of one read model over the stream log that the group `projector.<name>` gives to this process. Writes the
 * gathered batches of all its lanes together. Acknowledges a record once it is applied. Any number of processes may run one
 * (docs/adr/0048).
 */
export class StreamProjector {
  private consumer: Consumer | undefined;
  private fold: StreamFold | undefined;
  private readonly gathered: GatheredBatches;
  private readonly waiters = new AppliedWaiters();
  /** Writes: flushes, `forget`, the end of a rebuild. */
  private readonly writes = new SerialQueue();
  private readonly forgotten: ForgottenKeys;
  /** Lanes of the keys that were forgotten while a rebuild runs. */
  private forgottenMeanwhile: Map<string, readonly string[]> | undefined;
  private readonly backoff = new Backoff(PAUSES);
  private failure: Error | undefined;

  constructor(private readonly options: StreamProjectorOptions) {
    const { gatherMs, gatherManyMs, readModels, projection } = options;
    this.forgotten = new ForgottenKeys(readModels, projection.schema);
    const onDue = (): void => void this.writes.run(() => this.flush());
    // A lane that it does not hold is first brought up to the oldest of its records.
    const newest = (lane: string, records: readonly StoredRecord[]): readonly StoredRecord[] =>
      this.fold?.knownAppliedTo(lane) === undefined ? records : newestRecords(projection, records);
    this.gathered = new GatheredBatches({ gatherMs, gatherManyMs, newest, onDue });
  }

  async start(): Promise<void> {
    const { projection, log, maxBatch = MAX_BATCH, maxUnacked = 2 * MAX_BATCH } = this.options;
    await this.open();
    this.consumer = await log.consume({
      group: projectorGroup(projection.name),
      topics: { prefix: projection.prefix },
      maxBatch,
      maxUnacked,
      handler: (batch) => this.gather(batch),
      onRevoked: (lane) => this.release(lane),
    });
  }

  status(): ProjectorStatus {
    const caughtUp = this.consumer !== undefined && this.consumer.backlog() === 0;
    const base = { name: this.options.projection.name, caughtUp, checkpoint: null };
    return this.failure ? { ...base, failure: this.failure.message } : base;
  }

  /** Number of lanes that this process writes. */
  lanes(): number {
    return this.fold?.lanes() ?? 0;
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

  /**
   * Drops the documents of records with this key (a source, a webhook), whose topics are deleted. No record of it brings
   * them back, whichever process has it. Idempotent.
   */
  async forget(key: string, topics: readonly string[]): Promise<void> {
    await this.forgotten.add(key);
    // A topic owned by one emitter has one partition, so it is its own lane.
    const lanes = topics.length > 0 ? topics : await this.lanesOf(key);
    this.forgottenMeanwhile?.set(key, lanes);
    await this.writes.run(() => this.untilHeld(async () => (await this.open()).forget(key, lanes, topics.length > 0)));
  }

  /**
   * Reads the log from its oldest record into a new generation, then switches to it. Documents older than the log's
   * retention are lost. Resolves with the number of records read. Until then queries, and all projectors that run, use the
   * former generation.
   */
  async rebuild(onProgress: (records: number) => void = () => undefined): Promise<number> {
    const { projection, readModels, log } = this.options;
    await this.open();
    const forgotten = (this.forgottenMeanwhile = new Map<string, readonly string[]>());
    const generation = await readModels.beginGeneration(projection.schema);
    const next = this.foldOf(generation);
    let count = 0;
    const read = (): Promise<void> =>
      foldLog(log, projection.prefix, next, (records) => onProgress((count += records)));
    await read();
    await this.writes.run(async () => {
      await read();
      for (const [key, lanes] of forgotten) await next.forget(key, lanes, false);
      await readModels.activateGeneration(projection.schema, generation);
      this.fold = next;
      this.forgottenMeanwhile = undefined;
      // Other processes acknowledged what they wrote to the former generation until they saw the switch.
      await this.untilHeld(read);
    });
    this.wakeWaiters(next);
    return count;
  }

  /** Stops consuming. Records handed over and not yet applied come again. */
  async stop(): Promise<void> {
    this.gathered.stop();
    await this.consumer?.close();
    await this.writes.idle();
    this.waiters.giveUp();
  }

  private async open(): Promise<StreamFold> {
    if (this.fold) return this.fold;
    const { projection, readModels } = this.options;
    const { active } = await readModels.register(projection.schema);
    return (this.fold ??= this.foldOf(active));
  }

  private foldOf(generation: number): StreamFold {
    const { projection, readModels, log, lanes = lanesOfOneProcess(readModels) } = this.options;
    return new StreamFold({ projection, readModels, lanes, log, forgotten: this.forgotten, generation });
  }

  /** Lanes that may hold records with the key. */
  private async lanesOf(key: string): Promise<readonly string[]> {
    const { log, projection } = this.options;
    return Promise.all((await log.topics(projection.prefix)).map((topic) => log.laneOf(topic, key)));
  }

  /** Repeats what claims lanes that other processes claim back. */
  private async untilHeld(act: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await act();
        return;
      } catch (error) {
        if (!(error instanceof LaneLost) || attempt === ATTEMPTS) throw error;
        this.fold = undefined;
      }
    }
  }

  /** Lets a write of the lane end, so that its next owner does not have to overtake it. */
  private async release(lane: string): Promise<void> {
    this.gathered.drop(lane);
    await this.writes.idle();
    this.fold?.release(lane);
  }

  /** Returns before the records are applied, so that the log hands over what comes while they gather. */
  private async gather(batch: LaneBatch): Promise<void> {
    if (this.failure) throw this.failure;
    this.gathered.add(batch, this.waiters.size > 0);
  }

  /** Never rejects. What could not be written is written later. */
  private async flush(): Promise<void> {
    const lanes = this.gathered.shift().filter(({ revoked }) => !revoked());
    if (lanes.length === 0 || this.failure) return;
    try {
      const fold = await this.open();
      this.gathered.wrote(lanes, await fold.apply(lanes.flatMap(({ records }) => records)));
      this.backoff.reset();
      this.wakeWaiters(fold);
    } catch (error) {
      this.writeFailed(lanes, asError(error));
    }
  }

  private writeFailed(lanes: readonly GatheredLane[], failure: Error): void {
    if (failure instanceof PoisonRecord) return this.fail(failure);
    // Its generation may have been replaced.
    if (failure instanceof LaneLost) this.fold = undefined;
    this.gathered.putBack(lanes, this.backoff.next());
  }

  private wakeWaiters(fold: StreamFold): void {
    this.waiters.wake((lane) => fold.knownAppliedTo(lane));
  }

  private fail(error: Error): void {
    if (this.failure) return;
    this.failure = error;
    this.options.onFailure(error);
  }
}
