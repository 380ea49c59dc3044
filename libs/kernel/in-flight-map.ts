interface Slot<V> {
  value: V | undefined;
}

/**
 * A Map for entries in flight: thousands are added and removed, and few are present at a time.
 *
 * V8 copies the entries of a Map to a new table now and then, and the old table refers to the new one. Tables in the
 * old generation keep later ones alive until the next full collection, with all their values. At 5,000 events/s that
 * was nearly half of what each young collection kept, 7 KB an event. This map therefore stores values in slots and
 * empties the slot of a removed entry.
 */
export class InFlightMap<K, V> {
  private readonly slots = new Map<K, Slot<V>>();

  get size(): number {
    return this.slots.size;
  }

  has(key: K): boolean {
    return this.slots.has(key);
  }

  get(key: K): V | undefined {
    return this.slots.get(key)?.value;
  }

  set(key: K, value: V): void {
    const slot = this.slots.get(key);
    if (slot) slot.value = value;
    else this.slots.set(key, { value });
  }

  /** Returns the removed value. */
  delete(key: K): V | undefined {
    const slot = this.slots.get(key);
    if (!slot) return undefined;
    this.slots.delete(key);
    const { value } = slot;
    slot.value = undefined;
    return value;
  }

  /** Iterates in the order in which the keys were added. */
  *values(): IterableIterator<V> {
    for (const { value } of this.slots.values()) yield value as V;
  }

  clear(): void {
    for (const slot of this.slots.values()) slot.value = undefined;
    this.slots.clear();
  }
}
