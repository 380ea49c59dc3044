export interface Due {
  /** Epoch milliseconds. */
  readonly dueAt: number;
}

/** Binary heap whose first item is the earliest. */
export class DueHeap<T extends Due> {
  private items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const { items } = this;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (above.dueAt <= item.dueAt) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const [first] = this.items;
    const last = this.items.pop();
    if (last !== undefined && this.items.length > 0) this.sink(last);
    return first;
  }

  /** Keeps only the items that pass. */
  filter(keep: (item: T) => boolean): void {
    const kept = this.items.filter(keep);
    this.items = [];
    for (const item of kept) this.push(item);
  }

  private sink(item: T): void {
    const { items } = this;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= items.length) break;
      const right = left + 1;
      const child = right < items.length && (items[right] as T).dueAt < (items[left] as T).dueAt ? right : left;
      const below = items[child] as T;
      if (below.dueAt >= item.dueAt) break;
      items[at] = below;
      at = child;
    }
    items[at] = item;
  }
}
