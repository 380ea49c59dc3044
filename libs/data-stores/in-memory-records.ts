import { DATA_STORE_LIMITS, PAGE_BYTES, type DataStoreLimits } from '#libs/component-model/data-store-calls.js';
import {
  type DataStoreRecords,
  type OwnedRecord,
  type PageOfRecords,
  type RecordPage,
  recordSize,
  storeFull,
  type StoreRecord,
  sumOf,
} from './data-store-records.js';

const isLive = ({ expiresAt }: StoreRecord, now: number): boolean => expiresAt === null || expiresAt > now;

/** DataStoreRecords of one process, for tests. */
export class InMemoryRecords implements DataStoreRecords {
  private readonly records = new Map<string, Map<string, OwnedRecord>>();

  constructor(private readonly limits: DataStoreLimits = DATA_STORE_LIMITS) {}

  async get(storeId: string, key: string, now: number): Promise<StoreRecord | undefined> {
    const found = this.live(storeId, key, now);
    return found && { key, value: found.value, expiresAt: found.expiresAt };
  }

  async set(record: OwnedRecord, now: number): Promise<void> {
    this.checkRoom(record, now);
    const store = this.records.get(record.storeId) ?? new Map<string, OwnedRecord>();
    this.records.set(record.storeId, store.set(record.key, record));
  }

  async setTtl(storeId: string, key: string, expiresAt: number | null, now: number): Promise<boolean> {
    const found = this.live(storeId, key, now);
    if (found) this.records.get(storeId)?.set(key, { ...found, expiresAt });
    return found !== undefined;
  }

  async delete(storeId: string, key: string, now: number): Promise<boolean> {
    const existed = this.live(storeId, key, now) !== undefined;
    this.records.get(storeId)?.delete(key);
    return existed;
  }

  async incr(
    owner: Omit<OwnedRecord, 'value' | 'expiresAt'>,
    by: number,
    now: number,
    expiresAt: number | null = null,
  ): Promise<number> {
    const found = this.live(owner.storeId, owner.key, now);
    const sum = sumOf(owner.key, found?.value, by);
    await this.set({ ...owner, value: JSON.stringify(sum), expiresAt: found ? found.expiresAt : expiresAt }, now);
    return sum;
  }

  async page(storeId: string, { after, limit, keysOnly }: PageOfRecords, now: number): Promise<RecordPage> {
    const all = this.sorted(storeId).filter((record) => isLive(record, now) && record.key > after);
    const records: StoreRecord[] = [];
    let bytes = 0;
    for (const { key, value, expiresAt } of all.slice(0, limit)) {
      bytes += keysOnly ? Buffer.byteLength(key) : recordSize(key, value);
      if (records.length > 0 && bytes > PAGE_BYTES) break;
      records.push({ key, value: keysOnly ? '' : value, expiresAt });
    }
    return { records, more: records.length < all.length };
  }

  async size(storeId: string, now: number): Promise<number> {
    return this.sorted(storeId).filter((record) => isLive(record, now)).length;
  }

  async clear(storeId: string): Promise<void> {
    this.records.delete(storeId);
  }

  async expire(now: number): Promise<number> {
    let removed = 0;
    for (const store of this.records.values())
      for (const record of [...store.values()]) if (!isLive(record, now) && store.delete(record.key)) removed++;
    return removed;
  }

  async *all(): AsyncIterable<OwnedRecord> {
    for (const store of this.records.values()) yield* store.values();
  }

  private live(storeId: string, key: string, now: number): OwnedRecord | undefined {
    const found = this.records.get(storeId)?.get(key);
    return found && isLive(found, now) ? found : undefined;
  }

  private sorted(storeId: string): OwnedRecord[] {
    return [...(this.records.get(storeId)?.values() ?? [])].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  private checkRoom({ storeId, workspaceId, key, value }: OwnedRecord, now: number): void {
    for (const record of this.records.get(storeId)?.values() ?? [])
      if (!isLive(record, now)) this.records.get(storeId)?.delete(record.key);
    const own = [...(this.records.get(storeId)?.values() ?? [])].filter((record) => record.key !== key);
    const sum = (records: readonly OwnedRecord[]): number =>
      records.reduce((bytes, record) => bytes + recordSize(record.key, record.value), recordSize(key, value));
    const others = [...this.records.entries()]
      .filter(([id]) => id !== storeId)
      .flatMap(([, store]) => [...store.values()])
      .filter((record) => record.workspaceId === workspaceId);
    const { keys, storeBytes, workspaceBytes } = this.limits;
    if (own.length + 1 > keys) throw storeFull('keys', keys, own.length + 1);
    if (sum(own) > storeBytes) throw storeFull('storeBytes', storeBytes, sum(own));
    if (sum([...own, ...others]) > workspaceBytes)
      throw storeFull('workspaceBytes', workspaceBytes, sum([...own, ...others]));
  }
}
