interface Slot<V> {
  value: V | undefined;
}

/**
 * A Map for what is in flight: entries that come and go by the thousand, few at a time. `clear` leaves it to the caller to
 * drop what it read.
 *
 * V8 copies the entries of a Map to a new table now and then, and the old table refers to the new one. Old tables that
 * have moved to the old generation keep the later ones alive until the next full collection, with every value that these
 * held. At 5,000 events/s nearly half of what each young collection kept came from that, 7 KB an event. So the values lie
 * in slots here, which are emptied when an entry goes.
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

  /** Returns the value that was there. */
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
