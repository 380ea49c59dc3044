import { BoundedMap, bytesOfText } from '#libs/kernel/bounded-map.js';

/** Bytes of the queries whose totals are remembered, because users choose their texts. */
const MAX_BYTES = 256 * 1024;

/** Sizes of whole lists, which SQLite finds by counting, until the collection is written to. */
export class Totals {
  /** Keyed by table and query. */
  private readonly found = new BoundedMap<string, { readonly version: number; readonly total: number }>(
    MAX_BYTES,
    (key) => bytesOfText(key) + 128,
  );
  /** Number of writes by collection. */
  private readonly versions = new Map<string, number>();

  /** Call it before a write begins and after it has ended, so that a total found in between counts as old. */
  changed(collection: string): void {
    this.versions.set(collection, (this.versions.get(collection) ?? 0) + 1);
  }

  of(collection: string, query: readonly unknown[], count: () => number): number {
    const version = this.versions.get(collection) ?? 0;
    const key = JSON.stringify([collection, ...query]);
    const known = this.found.get(key);
    if (known?.version === version) return known.total;
    const total = count();
    this.found.set(key, { version, total });
    return total;
  }
}
