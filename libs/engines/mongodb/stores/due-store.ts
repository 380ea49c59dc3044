import { type Collection, type Db } from 'mongodb';
import { type DueKind } from '#libs/due/due-kinds.js';
import {
  type DueEntry,
  type DueRecord,
  type DueStore,
  type Out,
  PutListeners,
  type ReadEntry,
  type WaitingHeaders,
} from '#libs/due/due-store.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { repeated } from '../repeated.js';

interface EntryDocument {
  readonly _id: string;
  readonly owner: string;
  readonly kind: DueKind;
  readonly dueAt: number;
  /** Next due time. While the entry is out, the end of its lease. */
  readonly since: number;
  readonly timesOut: number;
  /** JSON text, because header names may be any text and field names may not. */
  readonly record: string;
}

/** The index by due time. Reads name it, because another index would sort all waiting entries. */
const TIME = { name: 'time', order: { since: 1, _id: 1 } } as const;

/** Characters of values that `dueBy` returns at once, not counting its first entry. */
const BATCH_CHARS = 4 << 20;

/** DueStore in MongoDB with an index by due time and one by owner. */
export class MongoDueStore implements DueStore {
  private readonly entries: Collection<EntryDocument>;
  private readonly listeners = new PutListeners();

  constructor(db: Db) {
    this.entries = db.collection<EntryDocument>('due', DURABLE);
  }

  /** Idempotent. Call it before the first use. */
  async ensureIndexes(): Promise<void> {
    await ensureIndexes(this.entries, [
      // The index includes the owner, so that owners are skipped without fetching their entries.
      { name: TIME.name, key: { ...TIME.order, owner: 1 } },
      { name: 'owner', key: { owner: 1 } },
    ]);
  }

  async put(entries: readonly DueEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const writes = entries.map(({ id, owner, kind, dueAt, record: { key, headers, value } }) => {
      const record = JSON.stringify({ key, headers, value } satisfies DueRecord);
      const replacement = { owner, kind, dueAt, since: dueAt, timesOut: 0, record };
      return { replaceOne: { filter: { _id: id }, replacement, upsert: true } };
    });
    await repeated(() => this.entries.bulkWrite(writes));
    this.listeners.put(entries);
  }

  async dueBy(now: number, limit: number, except: readonly string[] = []): Promise<readonly ReadEntry[]> {
    const read: ReadEntry[] = [];
    let chars = 0;
    const found = this.entries
      .find({ since: { $lte: now }, ...(except.length === 0 ? {} : { owner: { $nin: [...except] } }) })
      .sort(TIME.order)
      .hint(TIME.name)
      .limit(limit);
    for await (const document of found) {
      const { since, timesOut } = document;
      read.push({ ...entryOf(document), since, timesOut });
      chars += document.record.length;
      if (chars > BATCH_CHARS) break;
    }
    return read;
  }

  async setOut(outs: readonly Out[]): Promise<void> {
    if (outs.length === 0) return;
    const writes = outs.map(({ entry: { id, since }, until }) => ({
      updateOne: { filter: { _id: id, since }, update: { $set: { since: until }, $inc: { timesOut: 1 } } },
    }));
    await repeated(() => this.entries.bulkWrite(writes));
  }

  async has(id: string): Promise<boolean> {
    return (await this.entries.findOne({ _id: id }, { projection: { _id: 1 } })) !== null;
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await repeated(() => this.entries.deleteMany({ _id: { $in: [...ids] } }));
  }

  async removeOwner(owner: string): Promise<void> {
    await repeated(() => this.entries.deleteMany({ owner }));
  }

  async nextDueAt(): Promise<number | undefined> {
    const [first] = await this.entries
      .find({}, { projection: { since: 1 } })
      .sort(TIME.order)
      .hint(TIME.name)
      .limit(1)
      .toArray();
    return first?.since;
  }

  async countsOf(owners: readonly string[]): Promise<readonly number[]> {
    if (owners.length === 0) return [];
    const found = await this.entries
      .aggregate<{ _id: string; n: number }>([
        { $match: { owner: { $in: [...owners] } } },
        { $group: { _id: '$owner', n: { $sum: 1 } } },
      ])
      .toArray();
    const counts = new Map(found.map(({ _id, n }) => [_id, n]));
    return owners.map((owner) => counts.get(owner) ?? 0);
  }

  async waitingOf(owner: string): Promise<readonly WaitingHeaders[]> {
    const found: WaitingHeaders[] = [];
    for await (const document of this.entries.find({ owner })) {
      const { record, dueAt } = entryOf(document);
      found.push({ headers: record.headers, dueAt });
    }
    return found;
  }

  async *all(): AsyncIterable<DueEntry> {
    for await (const document of documentsById(this.entries)) yield entryOf(document);
  }

  onPut(listener: (dueAt: number) => void): () => void {
    return this.listeners.add(listener);
  }
}

const entryOf = ({ _id: id, owner, kind, dueAt, record }: EntryDocument): DueEntry => ({
  id,
  owner,
  kind,
  dueAt,
  record: JSON.parse(record) as DueRecord,
});
