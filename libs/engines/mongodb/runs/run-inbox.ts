/** A state remembers at least this many of its newest invocation ids, and at most half as many again. */
const KEPT = 1000;
const SLACK = 500;
const CHUNK = 64;

export interface InboxChange {
  /** Whole chunks to write, by number. */
  readonly chunks: ReadonlyMap<number, readonly string[]>;
  readonly dropped: readonly number[];
}

/**
 * The ids that a state remembers, stored in its document as numbered chunks of up to 64. A commit writes the newest
 * chunk and those after it, and drops the oldest. So its cost does not depend on how many are remembered.
 */
export class RunInbox {
  private readonly chunks: Map<number, readonly string[]>;
  /** The newest chunk that contains an id. */
  private readonly chunkOf = new Map<string, number>();

  constructor(stored: Readonly<Record<string, readonly string[]>> = {}) {
    const numbered = Object.entries(stored).map(([n, ids]) => [Number(n), ids] as const);
    this.chunks = new Map(numbered.sort(([a], [b]) => a - b));
    for (const [n, ids] of this.chunks) for (const id of ids) this.chunkOf.set(id, n);
  }

  has(id: string): boolean {
    return this.chunkOf.has(id);
  }

  /** Oldest first. A repeated id counts as new. */
  ids(): readonly string[] {
    const ids = new Set<string>();
    for (const chunk of this.chunks.values()) {
      for (const id of chunk) {
        ids.delete(id);
        ids.add(id);
      }
    }
    return [...ids];
  }

  /** The change that adding these ids makes. Nothing changes before `apply`. */
  plan(ids: readonly string[]): InboxChange {
    if (ids.length === 0) return { chunks: new Map(), dropped: [] };
    const [last, newest] = [...this.chunks].at(-1) ?? [0, []];
    const open = newest.length < CHUNK ? newest : [];
    const first = newest.length < CHUNK ? last : last + 1;
    const filled = [...open, ...ids];
    const chunks = new Map<number, readonly string[]>();
    for (let at = 0; at < filled.length; at += CHUNK) chunks.set(first + at / CHUNK, filled.slice(at, at + CHUNK));
    return this.withoutOldest(chunks);
  }

  apply({ chunks, dropped }: InboxChange): void {
    for (const n of dropped) {
      for (const id of this.chunks.get(n) ?? []) if (this.chunkOf.get(id) === n) this.chunkOf.delete(id);
      this.chunks.delete(n);
    }
    for (const [n, ids] of chunks) {
      this.chunks.set(n, ids);
      for (const id of ids) this.chunkOf.set(id, n);
    }
  }

  private withoutOldest(added: ReadonlyMap<number, readonly string[]>): InboxChange {
    const all = new Map([...this.chunks, ...added]);
    let count = 0;
    for (const ids of all.values()) count += ids.length;
    const dropped: number[] = [];
    if (count >= KEPT + SLACK) {
      for (const [n, ids] of all) {
        if (count - ids.length < KEPT) break;
        count -= ids.length;
        dropped.push(n);
      }
    }
    const gone = new Set(dropped);
    return {
      chunks: new Map([...added].filter(([n]) => !gone.has(n))),
      dropped: dropped.filter((n) => this.chunks.has(n)),
    };
  }
}
