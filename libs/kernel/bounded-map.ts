/** A cache that forgets its oldest entries above `limit`: a number of entries, or the sum of what `sizeOf` says of each. */
export class BoundedMap<K, V> {
  private readonly entries = new Map<K, V>();
  private size = 0;

  constructor(
    private readonly limit: number,
    private readonly sizeOf: (key: K, value: V) => number = () => 1,
  ) {}

  get(key: K): V | undefined {
    return this.entries.get(key);
  }

  /** A known key keeps its place in the order. An entry that exceeds the limit on its own is not stored. */
  set(key: K, value: V): void {
    const before = this.entries.get(key);
    if (before !== undefined) this.size -= this.sizeOf(key, before);
    this.entries.set(key, value);
    this.size += this.sizeOf(key, value);
    for (const oldest of this.entries.keys()) {
      if (this.size <= this.limit) break;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    const value = this.entries.get(key);
    if (value === undefined) return;
    this.entries.delete(key);
    this.size -= this.sizeOf(key, value);
  }

  clear(): void {
    this.entries.clear();
    this.size = 0;
  }
}

/** Bytes of a text in memory, at most. */
export const bytesOfText = (text: string): number => 2 * text.length + 32;
