import { type StoredRecord } from '#libs/stream-log/stream-log.js';

/** A record on its way to open streams, with what is made of it once for all of them. */
export class LiveRecord {
  private readonly made = new Map<unknown, unknown>();

  constructor(readonly record: StoredRecord) {}

  /** Calls `make` only once, however many streams ask. */
  once<T>(make: (record: StoredRecord) => T): T {
    if (!this.made.has(make)) this.made.set(make, make(this.record));
    return this.made.get(make) as T;
  }
}
