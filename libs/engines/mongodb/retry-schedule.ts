import { type Collection, type Db } from 'mongodb';
import { type RetrySchedule, type Waiting } from '#libs/delivery/retry-schedule.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { documentsById } from './documents-by-id.js';
import { DURABLE } from './durable.js';
import { ensureIndexes } from './ensure-indexes.js';

interface WaitingDocument {
  readonly _id: string;
  readonly owner: string;
  readonly dueAt: number;
  /** JSON text: names of headers are any text, names of fields are not. */
  readonly record: string;
}

/** RetrySchedule in MongoDB, an index by due time and one by owner. */
export class MongoRetrySchedule implements RetrySchedule {
  private readonly waiting: Collection<WaitingDocument>;

  constructor(db: Db) {
    this.waiting = db.collection<WaitingDocument>('waiting', DURABLE);
  }

  /** Idempotent; before the first use. */
  async ensureIndexes(): Promise<void> {
    await ensureIndexes(this.waiting, [
      { name: 'due', key: { dueAt: 1, _id: 1 } },
      { name: 'owner', key: { owner: 1 } },
    ]);
  }

  async put(entries: readonly Waiting[]): Promise<void> {
    if (entries.length === 0) return;
    const writes = entries.map(({ id, owner, dueAt, record }) => ({
      replaceOne: {
        filter: { _id: id },
        replacement: { owner, dueAt, record: JSON.stringify(record) },
        upsert: true,
      },
    }));
    await this.waiting.bulkWrite(writes);
  }

  async due(now: number, limit: number): Promise<readonly Waiting[]> {
    const found = await this.waiting
      .find({ dueAt: { $lte: now } })
      .sort({ dueAt: 1, _id: 1 })
      .limit(limit)
      .toArray();
    return found.map(waitingOf);
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.waiting.deleteMany({ _id: { $in: [...ids] } });
  }

  async removeOwner(owner: string): Promise<void> {
    await this.waiting.deleteMany({ owner });
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

  async *all(): AsyncIterable<Waiting> {
    for await (const document of documentsById(this.waiting)) yield waitingOf(document);
  }
}

const waitingOf = ({ _id: id, owner, dueAt, record }: WaitingDocument): Waiting => ({
  id,
  owner,
  dueAt,
  record: JSON.parse(record) as LogRecord,
});
