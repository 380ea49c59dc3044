import { type Collection, type Db } from 'mongodb';
import {
  type DueRetry,
  type HandOut,
  type RetrySchedule,
  type ScheduledRetry,
  type WaitingHeaders,
} from '#libs/delivery/retry-schedule.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { repeated } from '../repeated.js';

interface RetryDocument {
  readonly _id: string;
  readonly owner: string;
  /** When it is due next: at the end of the time for which it is handed out, if it is. */
  readonly dueAt: number;
  /** Its own due time, and how often it was handed out. Absent unless it was. */
  readonly firstDueAt?: number;
  readonly handedOut?: number;
  /** JSON text, because header names may be any text and field names may not. */
  readonly record: string;
  /** Size of `record`. Entries of versions that did not count lack it and weigh nothing. */
  readonly bytes?: number;
}

/** Characters of values that `due` returns at once, not counting its first entry. */
const BATCH_CHARS = 4 << 20;

/** Age in milliseconds after which the byte sums of owners are read again. */
const BYTES_MS = 1_000;

/** RetrySchedule in MongoDB with an index by due time and one by owner with the sizes. */
export class MongoRetrySchedule implements RetrySchedule {
  private readonly waiting: Collection<RetryDocument>;
  private bytes: ReadonlyMap<string, number> = new Map();
  private bytesAt = Number.NEGATIVE_INFINITY;
  private counting: Promise<void> | undefined;

  constructor(
    db: Db,
    private readonly onWarning: (text: string, error: unknown) => void,
  ) {
    this.waiting = db.collection<RetryDocument>('waiting', DURABLE);
  }

  /** Idempotent. Call it before the first use. */
  async ensureIndexes(): Promise<void> {
    await ensureIndexes(this.waiting, [
      { name: 'due', key: { dueAt: 1, _id: 1 } },
      { name: 'owner_bytes', key: { owner: 1, bytes: 1 } },
    ]);
  }

  async put(entries: readonly ScheduledRetry[]): Promise<void> {
    if (entries.length === 0) return;
    const writes = entries.map(({ id, owner, dueAt, record }) => {
      const text = JSON.stringify(record);
      const replacement = { owner, dueAt, record: text, bytes: Buffer.byteLength(text) };
      return { replaceOne: { filter: { _id: id }, replacement, upsert: true } };
    });
    await repeated(() => this.waiting.bulkWrite(writes));
  }

  async due(now: number, limit: number, except: readonly string[] = []): Promise<readonly DueRetry[]> {
    const due: DueRetry[] = [];
    let chars = 0;
    const found = this.waiting
      .find({ dueAt: { $lte: now }, ...(except.length === 0 ? {} : { owner: { $nin: [...except] } }) })
      .sort({ dueAt: 1, _id: 1 })
      .limit(limit);
    for await (const entry of found) {
      const waiting = waitingOf(entry);
      due.push({ ...waiting, since: entry.dueAt, handedOut: entry.handedOut ?? 0 });
      chars += waiting.record.value.length;
      if (chars > BATCH_CHARS) break;
    }
    return due;
  }

  async handOut(handOuts: readonly HandOut[]): Promise<void> {
    if (handOuts.length === 0) return;
    const writes = handOuts.map(({ entry: { id, dueAt, since }, until }) => ({
      updateOne: {
        filter: { _id: id, dueAt: since },
        update: { $set: { dueAt: until, firstDueAt: dueAt }, $inc: { handedOut: 1 } },
      },
    }));
    await repeated(() => this.waiting.bulkWrite(writes));
  }

  async has(id: string): Promise<boolean> {
    return (await this.waiting.findOne({ _id: id }, { projection: { _id: 1 } })) !== null;
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await repeated(() => this.waiting.deleteMany({ _id: { $in: [...ids] } }));
  }

  async removeOwner(owner: string): Promise<void> {
    await repeated(() => this.waiting.deleteMany({ owner }));
  }

  async nextDueAt(): Promise<number | undefined> {
    const [first] = await this.waiting
      .find({}, { projection: { dueAt: 1 } })
      .sort({ dueAt: 1, _id: 1 })
      .limit(1)
      .toArray();
    return first?.dueAt;
  }

  countOf(owner: string): Promise<number> {
    return this.waiting.countDocuments({ owner });
  }

  async waitingOf(owner: string): Promise<readonly WaitingHeaders[]> {
    const found: WaitingHeaders[] = [];
    for await (const entry of this.waiting.find({ owner })) {
      const { record, dueAt } = waitingOf(entry);
      found.push({ headers: record.headers, dueAt });
    }
    return found;
  }

  /**
   * Other processes write here too, so the server computes the sums, and only while callers ask for them. The first
   * answer, and those after a pause, are older than BYTES_MS.
   */
  bytesOf(owner: string): number {
    const now = performance.now();
    if (this.counting === undefined && now - this.bytesAt >= BYTES_MS) {
      this.bytesAt = now;
      this.counting = this.sum().then(
        () => (this.counting = undefined),
        (error: unknown) => {
          this.counting = undefined;
          this.onWarning('cannot count the bytes of waiting deliveries, retrying later', error);
        },
      );
    }
    return this.bytes.get(owner) ?? 0;
  }

  async *all(): AsyncIterable<ScheduledRetry> {
    for await (const document of documentsById(this.waiting)) yield waitingOf(document);
  }

  private async sum(): Promise<void> {
    const sums = this.waiting.aggregate<{ _id: string; bytes: number }>([
      // In the order of the index, which holds every field needed.
      { $sort: { owner: 1, bytes: 1 } },
      { $group: { _id: '$owner', bytes: { $sum: '$bytes' } } },
    ]);
    const bytes = new Map<string, number>();
    for await (const { _id, bytes: of } of sums) bytes.set(_id, of);
    this.bytes = bytes;
  }
}

const waitingOf = ({ _id: id, owner, dueAt, firstDueAt, record }: RetryDocument): ScheduledRetry => ({
  id,
  owner,
  dueAt: firstDueAt ?? dueAt,
  record: JSON.parse(record) as LogRecord,
});
