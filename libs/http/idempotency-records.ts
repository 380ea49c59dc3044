/** Durable records with an end, which processes share. The records of data stores have this shape. */
export interface IdempotencyRecords {
  get(storeId: string, key: string, now: number): Promise<{ readonly value: string } | undefined>;
  set(record: KeptRecord, now: number): Promise<void>;
  setTtl(storeId: string, key: string, expiresAt: number | null, now: number): Promise<boolean>;
  delete(storeId: string, key: string, now: number): Promise<boolean>;
  /**
   * Adds atomically, also between processes. A missing or expired record counts as 0, and gets this end. Another one keeps
   * its end.
   */
  incr(owner: Omit<KeptRecord, 'value' | 'expiresAt'>, by: number, now: number, expiresAt: number): Promise<number>;
}
export const IDEMPOTENCY_RECORDS = Symbol('IdempotencyRecords');

interface KeptRecord {
  readonly storeId: string;
  readonly workspaceId: string;
  readonly key: string;
  /** JSON text. */
  readonly value: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number | null;
}
