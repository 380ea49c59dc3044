import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type UnpublishedBytes } from './unpublished-bytes.js';

/** Approximate limit of bytes published in one call. */
const BATCH_BYTES = 1 << 20;
const RETRIES = { firstMs: 20, longestMs: 5_000 };

/** The records of one commit, durable in the outbox. */
export interface Relayed {
  /** The version that the commit made. */
  readonly seq: number;
  readonly records: readonly LogRecord[];
  readonly bytes: number;
  /** Token of its documents in `outbox_parts`, if it has any. */
  readonly token: string | undefined;
}

/** Publishes the outbox of one state to the log in order, one call at a time, retrying until it succeeds. */
export class OutboxRelay {
  private queue: Relayed[] = [];
  private done: Relayed[] = [];
  private running: Promise<void> | undefined;
  private queuedBytes = 0;
  /** Records that are in the log, so that a batch of which some failed is not published whole again. */
  private readonly written = new WeakSet<LogRecord>();
  private wakers: (() => void)[] = [];

  constructor(
    private readonly log: Pick<StreamLog, 'publishEach'>,
    /** Shared by all relays of the process. */
    private readonly unpublished: UnpublishedBytes,
    /** Once aborted, unpublished records stay in the outbox for another owner. */
    private readonly closing: AbortSignal,
    private readonly onPublished: () => void,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /** Records now in the log and still in the outbox. Those published later are not included. */
  published(): readonly Relayed[] {
    return [...this.done];
  }

  isEmpty(): boolean {
    return this.queue.length === 0;
  }

  knows(seq: number): boolean {
    return [...this.done, ...this.queue].some((entry) => entry.seq === seq);
  }

  add(entries: readonly Relayed[]): void {
    this.queue.push(...entries);
    for (const { bytes } of entries) this.count(bytes);
    if (this.queue.length > 0) this.running ??= this.run();
  }

  /** Forgets entries that left the outbox. */
  removed(entries: readonly Relayed[]): void {
    const gone = new Set(entries);
    this.done = this.done.filter((entry) => !gone.has(entry));
  }

  /** Discards records that another owner publishes or that are not needed. A running call is not stopped. */
  discard(): void {
    this.queue = [];
    this.done = [];
    this.count(-this.queuedBytes);
    this.wake();
  }

  /**
   * Resolves when at most `bytes` wait to be published and, unless `bytes` is 0, all relays together have room for
   * more. Rejects when the journal closes before.
   */
  async below(bytes: number): Promise<void> {
    if (bytes > 0) await this.unpublished.room();
    while (this.queuedBytes > bytes) {
      if (this.running === undefined) throw new Error('the run journal is closed, and emits wait to be published');
      await new Promise<void>((resolve) => this.wakers.push(resolve));
    }
  }

  /** Resolves when publishing has ended: all is published, or the journal closed before it could be. */
  async ended(): Promise<void> {
    while (this.running) await this.running;
  }

  private async run(): Promise<void> {
    const backoff = new Backoff(RETRIES);
    while (this.queue.length > 0) {
      const batch = this.nextBatch();
      const failure = await this.publish(batch);
      if (failure === undefined) {
        backoff.reset();
        this.finish(batch);
      } else {
        this.onFailure(failure);
        if (this.closing.aborted) break;
        await pause(backoff.next(), this.closing);
      }
    }
    this.running = undefined;
    this.wake();
  }

  /** Publishes what is not in the log. Resolves with the first error when some of it failed. */
  private publish(batch: readonly Relayed[]): Promise<Error | undefined> {
    const records = batch.flatMap(({ records }) => records).filter((record) => !this.written.has(record));
    if (records.length === 0) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      let left = records.length;
      let failure: Error | undefined;
      this.log.publishEach(records, (index, outcome) => {
        const record = records[index];
        // Null means that the topic is gone with the source, and so are its readers.
        if (outcome instanceof Error) failure ??= outcome;
        else if (record) this.written.add(record);
        if (--left === 0) resolve(failure);
      });
    });
  }

  private nextBatch(): Relayed[] {
    let bytes = 0;
    let count = 0;
    for (const entry of this.queue) {
      if (count > 0 && bytes + entry.bytes > BATCH_BYTES) break;
      bytes += entry.bytes;
      count++;
    }
    return this.queue.slice(0, count);
  }

  private finish(batch: readonly Relayed[]): void {
    // The records were discarded in the meantime, and the queue is empty or begins with others.
    if (this.queue[0] !== batch[0]) return;
    this.queue.splice(0, batch.length);
    for (const { bytes } of batch) this.count(-bytes);
    // Only their numbers are needed from now on.
    this.done.push(...batch.map((entry) => ({ ...entry, records: [] })));
    this.wake();
    this.onPublished();
  }

  private count(bytes: number): void {
    this.queuedBytes += bytes;
    if (bytes > 0) this.unpublished.add(bytes);
    else this.unpublished.remove(-bytes);
  }

  private wake(): void {
    for (const waker of this.wakers.splice(0)) waker();
  }
}
