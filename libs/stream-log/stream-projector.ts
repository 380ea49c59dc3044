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
  /** Writes that several processes share. Default: only this process writes the read model. */
  readonly lanes?: LaneWrites | undefined;
  /** Called once when the projector stops for good at a record that its projection cannot apply. */
  readonly onFailure: (error: Error) => void;
  readonly maxBatch?: number;
  readonly maxUnacked?: number;
  /** How long records of all lanes gather before one write, at a low and at a high rate. */
  readonly gatherMs?: number;
  readonly gatherManyMs?: number;
}

/**
 * With twice this number unacknowledged, and a write every 250 ms under load, a lane processes 16,000 records a second.
 */
const MAX_BATCH = 2_048;
/** Pauses after a failed write. */
const PAUSES = { firstMs: 100, longestMs: 10_000 };

/** Consumer group of the projector of a read model. */
export const projectorGroup = (readModel: string): string => `projector.${readModel}`;

/** Most attempts to claim lanes back. Each loss means that another process claimed them and made progress. */
const ATTEMPTS = 20;

/**
 * Applies the lanes of one read model over the stream log that the group `projector.<name>` assigns to this process.
 * Writes the gathered batches of all its lanes together, and acknowledges a record once it is applied. Any number of
 * processes may run one (docs/adr/0048).
 */
export class StreamProjector {
  private consumer: Consumer | undefined;
  private fold: StreamFold | undefined;
  private readonly gathered: GatheredBatches;
  private readonly waiters = new AppliedWaiters();
  /** Serializes writes: flushes, `forget`, and the end of a rebuild. */
  private readonly writes = new SerialQueue();
  private readonly forgotten: ForgottenKeys;
  /** Lanes of the keys that are forgotten during a rebuild. */
  private forgottenMeanwhile: Map<string, readonly string[]> | undefined;
  private readonly backoff = new Backoff(PAUSES);
  private failure: Error | undefined;

  constructor(private readonly options: StreamProjectorOptions) {
    const { gatherMs, gatherManyMs, readModels, projection } = options;
    this.forgotten = new ForgottenKeys(readModels, projection.schema);
    const onDue = (): void => void this.writes.run(() => this.flush());
    // A lane that is not claimed yet must first be filled up to the oldest of its records.
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
   * Deletes the documents of records with this key (a source or webhook whose topics are deleted). No record of the key
   * restores them, whichever process reads it. Idempotent.
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
   * retention are lost. Resolves with the number of records read. Queries and all running projectors use the former
   * generation until the switch.
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
      // Until they saw the switch, other processes acknowledged records that they wrote to the former generation.
      await this.untilHeld(read);
    });
    this.wakeWaiters(next);
    return count;
  }

  /** Stops consuming. The log redelivers records that were handed over and not applied. */
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

  /** Returns the lanes that may contain records with the key. */
  private async lanesOf(key: string): Promise<readonly string[]> {
    const { log, projection } = this.options;
    return Promise.all((await log.topics(projection.prefix)).map((topic) => log.laneOf(topic, key)));
  }

  /** Repeats an action that claims lanes while other processes claim them back. */
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

  /** Waits for a running write of the lane, so that its next owner does not have to overtake it. */
  private async release(lane: string): Promise<void> {
    this.gathered.drop(lane);
    await this.writes.idle();
    this.fold?.release(lane);
  }

  /** Returns before the records are applied, so that the log hands over more while they gather. */
  private async gather(batch: LaneBatch): Promise<void> {
    if (this.failure) throw this.failure;
    this.gathered.add(batch, this.waiters.size > 0);
  }

  /** Never rejects. A failed write is retried later. */
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
    // The generation of the fold may have been replaced.
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
