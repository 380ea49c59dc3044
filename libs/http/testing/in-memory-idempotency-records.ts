import { type IdempotencyRecords } from '../idempotency-records.js';

interface Kept {
  value: string;
  expiresAt: number | null;
}

/** In-memory IdempotencyRecords for specs, with a failure of the next write on demand. */
export class InMemoryIdempotencyRecords implements IdempotencyRecords {
  readonly records = new Map<string, Kept>();
  failSet: Error | undefined;

  async get(storeId: string, key: string, now: number): Promise<{ readonly value: string } | undefined> {
    return this.live(storeId, key, now);
  }

  async set({ storeId, key, value, expiresAt }: Parameters<IdempotencyRecords['set']>[0]): Promise<void> {
    if (this.failSet) throw this.failSet;
    this.records.set(`${storeId}/${key}`, { value, expiresAt });
  }

  async setTtl(storeId: string, key: string, expiresAt: number | null, now: number): Promise<boolean> {
    const found = this.live(storeId, key, now);
    if (found) found.expiresAt = expiresAt;
    return found !== undefined;
  }

  async delete(storeId: string, key: string): Promise<boolean> {
    return this.records.delete(`${storeId}/${key}`);
  }

  async incr(
    { storeId, key }: Parameters<IdempotencyRecords['incr']>[0],
    by: number,
    now: number,
    expiresAt: number,
  ): Promise<number> {
    const found = this.live(storeId, key, now);
    const sum = Number(found?.value ?? 0) + by;
    this.records.set(`${storeId}/${key}`, { value: String(sum), expiresAt: found ? found.expiresAt : expiresAt });
    return sum;
  }

  private live(storeId: string, key: string, now: number): Kept | undefined {
    const found = this.records.get(`${storeId}/${key}`);
    return found && (found.expiresAt === null || found.expiresAt > now) ? found : undefined;
  }
}
