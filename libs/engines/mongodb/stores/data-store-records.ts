import { type Collection, type Db, type Filter } from 'mongodb';
import { DATA_STORE_LIMITS, type DataStoreLimits, PAGE_BYTES } from '#libs/component-model/data-store-calls.js';
import {
  type DataStoreRecords,
  type OwnedRecord,
  type PageOfRecords,
  type RecordPage,
  recordSize,
  type StoreRecord,
  sumOf,
} from '#libs/data-stores/data-store-records.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { repeated } from '../repeated.js';
import { isDuplicateKey } from '../server-errors.js';
import { Room, type Used, type Wanted } from './room.js';

interface RecordDocument {
  /** `<store>/<key>` */
  readonly _id: string;
  readonly store: string;
  readonly workspace: string;
  readonly key: string;
  readonly value: string;
  readonly expiresAt: number | null;
  readonly bytes: number;
}

const REMOVED_AT_ONCE = 1_000;

const idOf = (storeId: string, key: string): string => `${storeId}/${key}`;

/** Documents that a reader may see at `now`. */
const live = (now: number): Filter<RecordDocument> => ({ $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] });

/**
 * DataStoreRecords in MongoDB with a document per record. The sums for the limits are up to a second old, so several
 * processes may together exceed a limit by their writes of a second.
 */
export class MongoDataStoreRecords implements DataStoreRecords {
  private readonly records: Collection<RecordDocument>;
  private readonly room: Room;

  constructor(db: Db, limits: DataStoreLimits = DATA_STORE_LIMITS) {
    this.records = db.collection<RecordDocument>('data_store_records', DURABLE);
    this.room = new Room(limits, (workspaceId) => this.readSums(workspaceId));
  }

  /** Idempotent. Call it before the first use. */
  async ensureIndexes(): Promise<void> {
    await ensureIndexes(this.records, [
      { name: 'sums', key: { workspace: 1, store: 1, bytes: 1 } },
      { name: 'store', key: { store: 1, _id: 1 } },
      { name: 'end', key: { expiresAt: 1 } },
    ]);
  }

  async get(storeId: string, key: string, now: number): Promise<StoreRecord | undefined> {
    const found = await this.records.findOne({ _id: idOf(storeId, key), ...live(now) });
    return found ? { key, value: found.value, expiresAt: found.expiresAt } : undefined;
  }

  async set(record: OwnedRecord, now: number): Promise<void> {
    const size = recordSize(record.key, record.value);
    const { _id, ...fields } = documentOf(record, size);
    const write = () => repeated(() => this.records.updateOne({ _id }, { $set: fields }, { upsert: true }));
    await this.withRoom(record, size, now, write);
  }

  async setTtl(storeId: string, key: string, expiresAt: number | null, now: number): Promise<boolean> {
    const filter = { _id: idOf(storeId, key), ...live(now) };
    return (await this.records.updateOne(filter, { $set: { expiresAt } })).matchedCount > 0;
  }

  async delete(storeId: string, key: string, now: number): Promise<boolean> {
    const removed = await this.records.findOneAndDelete({ _id: idOf(storeId, key) });
    if (!removed) return false;
    this.room.forget(removed.workspace);
    return removed.expiresAt === null || removed.expiresAt > now;
  }

  /** Replaces only the document that was read, so concurrent calls lose no update. One of them always succeeds. */
  async incr(
    owner: Omit<OwnedRecord, 'value' | 'expiresAt'>,
    by: number,
    now: number,
    expiresAt: number | null = null,
  ): Promise<number> {
    const { storeId, key } = owner;
    const _id = idOf(storeId, key);
    for (;;) {
      const found = await this.records.findOne({ _id });
      const current = found && (found.expiresAt === null || found.expiresAt > now) ? found : undefined;
      const sum = sumOf(key, current?.value, by);
      const record = { ...owner, value: JSON.stringify(sum), expiresAt: current ? current.expiresAt : expiresAt };
      const size = recordSize(key, record.value);
      if (await this.replaced(found, record, size, now)) return sum;
    }
  }

  async page(storeId: string, { after, limit, keysOnly }: PageOfRecords, now: number): Promise<RecordPage> {
    const found = this.records
      .find(
        { store: storeId, _id: { $gt: idOf(storeId, after) }, ...live(now) },
        keysOnly ? { projection: { _id: 1, key: 1, expiresAt: 1 } } : {},
      )
      .sort({ _id: 1 })
      .limit(limit + 1)
      // A first batch of large values would exceed a page.
      .batchSize(keysOnly ? limit + 1 : 10);
    const records: StoreRecord[] = [];
    let bytes = 0;
    for await (const { key, value, expiresAt } of found) {
      bytes += keysOnly ? Buffer.byteLength(key) : recordSize(key, value);
      if (records.length >= limit || (records.length > 0 && bytes > PAGE_BYTES)) return { records, more: true };
      records.push({ key, value: keysOnly ? '' : value, expiresAt });
    }
    return { records, more: false };
  }

  size(storeId: string, now: number): Promise<number> {
    return this.records.countDocuments({ store: storeId, ...live(now) });
  }

  async clear(storeId: string): Promise<void> {
    await repeated(() => this.records.deleteMany({ store: storeId }));
    this.room.forgetAll();
  }

  async expire(now: number): Promise<number> {
    const expired = await this.records
      .find({ expiresAt: { $ne: null, $lte: now } }, { projection: { _id: 1 } })
      .limit(REMOVED_AT_ONCE)
      .toArray();
    if (expired.length === 0) return 0;
    // Repeats the condition, because a record may have been written again since.
    const filter = { _id: { $in: expired.map(({ _id }) => _id) }, expiresAt: { $ne: null, $lte: now } };
    const { deletedCount } = await this.records.deleteMany(filter);
    if (deletedCount > 0) this.room.forgetAll();
    return deletedCount;
  }

  async *all(): AsyncIterable<OwnedRecord> {
    for await (const { store, workspace, key, value, expiresAt } of documentsById(this.records))
      yield { storeId: store, workspaceId: workspace, key, value, expiresAt };
  }

  private async replaced(
    found: RecordDocument | null,
    record: OwnedRecord,
    size: number,
    now: number,
  ): Promise<boolean> {
    const document = documentOf(record, size);
    if (found) {
      const { value, expiresAt } = record;
      const before = { _id: found._id, value: found.value, expiresAt: found.expiresAt };
      return (await this.records.updateOne(before, { $set: { value, expiresAt, bytes: size } })).matchedCount > 0;
    }
    try {
      await this.withRoom(record, size, now, () => this.records.insertOne(document));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  private withRoom<T>(record: OwnedRecord, bytes: number, now: number, write: () => Promise<T>): Promise<T> {
    const { storeId, workspaceId: workspace, key } = record;
    const exactly = async (): Promise<Wanted> => {
      await repeated(() => this.records.deleteMany({ workspace, expiresAt: { $ne: null, $lte: now } }));
      const before = await this.records.findOne({ _id: idOf(storeId, key) }, { projection: { bytes: 1 } });
      return { storeId, keys: before ? 0 : 1, bytes: bytes - (before?.bytes ?? 0) };
    };
    return this.room.during(workspace, { storeId, keys: 1, bytes }, exactly, write);
  }

  private async readSums(workspace: string): Promise<Map<string, Used>> {
    // Two queries, because FerretDB returns 0 for the second sum of one group.
    const summed = (what: 1 | '$bytes'): Promise<{ _id: string; sum: number }[]> =>
      this.records
        .aggregate<{ _id: string; sum: number }>([
          { $match: { workspace } },
          { $group: { _id: '$store', sum: { $sum: what } } },
        ])
        .toArray();
    const [keys, bytes] = await Promise.all([summed(1), summed('$bytes')]);
    const bytesOf = new Map(bytes.map(({ _id, sum }) => [_id, sum]));
    return new Map(keys.map(({ _id, sum }) => [_id, { keys: sum, bytes: bytesOf.get(_id) ?? 0 }]));
  }
}

const documentOf = (record: OwnedRecord, bytes: number): RecordDocument => {
  const { storeId: store, workspaceId: workspace, key, value, expiresAt } = record;
  return { _id: idOf(store, key), store, workspace, key, value, expiresAt, bytes };
};
