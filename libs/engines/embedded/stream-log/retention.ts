import { SerialQueue } from '#libs/async/serial-queue.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Topic } from './topic.js';
import { nextTurn, ROWS_PER_TURN } from '../yielding.js';
import { type Writer } from '../writer/writer.js';

const SWEEP_EVERY_MS = 30_000;
/** Chunks deleted in one operation. */
const STEP = 64;
const TOPICS_PER_TURN = 50;

export interface RetentionHost {
  readonly writer: Writer;
  readonly reader: Database;
  readonly clock: Clock;
  topics(): Iterable<Topic>;
  /** Highest offset that all groups have committed; Infinity when no group reads the topic. */
  committedByAll(topic: Topic): number;
}

/** Drops records that retention allows and no group still needs, in the background and in small steps. */
export class RetentionSweeper {
  private timer: NodeJS.Timeout | undefined;
  private readonly queue = new SerialQueue();
  private stopped = false;
  /** Why the last pass failed. */
  failure: unknown;

  constructor(private readonly host: RetentionHost) {
    this.schedule();
    this.purgeSoon();
  }

  /** Deletes the records of deleted topics. */
  purgeSoon(): void {
    void this.enqueue(() => this.purge());
  }

  /** Runs one pass over all topics. */
  sweep(): Promise<void> {
    return this.enqueue(() => this.pass());
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.queue.idle();
  }

  private enqueue(work: () => Promise<void>): Promise<void> {
    return this.queue.run(async () => {
      try {
        await work();
        this.failure = undefined;
      } catch (error) {
        // No record is lost, and the next pass completes this one.
        this.failure = error;
      }
    });
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      void this.sweep().then(() => {
        if (!this.stopped) this.schedule();
      });
    }, SWEEP_EVERY_MS);
    this.timer.unref();
  }

  private async purge(): Promise<void> {
    while (!this.stopped && (await this.host.writer.submit('purge', { limit: STEP })) >= 0) await nextTurn();
  }

  private async pass(): Promise<void> {
    let count = 0;
    for (const topic of [...this.host.topics()]) {
      if (this.stopped) return;
      const { ageMs, bytes, dropConsumed } = topic.retention;
      const committed = this.host.committedByAll(topic);
      if (dropConsumed && committed !== Number.POSITIVE_INFINITY) await this.drop(topic, () => true, committed);
      if (ageMs !== undefined) {
        const before = this.host.clock.now() - ageMs;
        await this.drop(topic, ({ at }) => at < before, committed);
      }
      if (bytes !== undefined) await this.fit(topic, bytes, committed);
      if (++count % TOPICS_PER_TURN === 0) await nextTurn();
    }
    await this.purge();
  }

  private async fit(topic: Topic, limit: number, committed: number): Promise<void> {
    topic.bytes ??= await this.measure(topic);
    let kept = topic.bytes;
    if (kept <= limit) return;
    await this.drop(
      topic,
      ({ size }) => {
        if (kept <= limit) return false;
        kept -= size;
        return true;
      },
      committed,
    );
  }

  /** Drops the oldest chunks while `may` allows it. */
  private async drop(topic: Topic, may: (chunk: OldChunk) => boolean, committed: number): Promise<void> {
    const upTo = Math.min(committed, Number.MAX_SAFE_INTEGER);
    while (!this.stopped) {
      const rows = this.host.reader
        .sql('SELECT last, size, at FROM chunks WHERE topic = ? AND last <= ? ORDER BY last LIMIT ?')
        .all<OldChunk>(topic.id, upTo, STEP);
      const first = rows.findIndex((row) => !may(row));
      const gone = first < 0 ? rows : rows.slice(0, first);
      const last = gone.at(-1);
      if (!last) return;
      await this.host.writer.submit('drop', [topic.id, last.last]);
      if (topic.bytes !== undefined) topic.bytes -= gone.reduce((sum, { size }) => sum + size, 0);
      if (first >= 0 || rows.length < STEP) return;
    }
  }

  /**
   * Sums the bytes from the index alone, in slices. A chunk that is appended during the sum is counted by the slice
   * that reaches it.
   */
  private async measure(topic: Topic): Promise<number> {
    let total = 0;
    for (let after = -1; ; await nextTurn()) {
      const row = this.host.reader
        .sql(
          `SELECT max(last) AS last, sum(size) AS total, count(*) AS n FROM
             (SELECT last, size FROM chunks WHERE topic = ? AND last > ? ORDER BY last LIMIT ?)`,
        )
        .get<{ last: number | null; total: number | null; n: number }>(topic.id, after, 10 * ROWS_PER_TURN);
      total += row?.total ?? 0;
      if (!row || row.n < 10 * ROWS_PER_TURN) return total;
      after = row.last ?? after;
    }
  }
}

/** A chunk. `at` is the time of its newest record. */
interface OldChunk {
  readonly last: number;
  readonly size: number;
  readonly at: number;
}
