import { dictionary } from '#libs/kernel/dictionary.js';
import { RUN_LIMITS } from '#libs/sandbox/index.js';

type Db = Readonly<Record<string, string>>;
/** Changed keys with their JSON text, or null for a deleted key. */
export type DbChanges = Readonly<Record<string, string | null>>;

interface Size {
  readonly keys: number;
  readonly bytes: number;
}

const sizes = new WeakMap<Db, Size>();

const entryBytes = (key: string, text: string | undefined): number =>
  text === undefined ? 0 : Buffer.byteLength(key) + Buffer.byteLength(text);

const sizeOf = (db: Db): Size => {
  let size = sizes.get(db);
  if (!size) {
    const entries = Object.entries(db);
    size = { keys: entries.length, bytes: entries.reduce((sum, [key, text]) => sum + entryBytes(key, text), 0) };
    sizes.set(db, size);
  }
  return size;
};

/** Applies the changes of successive runs to one `$.service.db`, within its limits. */
export class DbDraft {
  private next: Record<string, string> | undefined;
  private size: Size;

  constructor(private readonly before: Db) {
    this.size = sizeOf(before);
  }

  /** Applies all changes of one run. If they exceed a limit, applies none and returns that limit. */
  apply(changes: DbChanges): string | undefined {
    const entries = Object.entries(changes);
    if (entries.length === 0) return undefined;
    const size = this.sizeAfter(changes);
    const fault = this.faultOf(size);
    if (fault !== undefined) return fault;
    const db = (this.next ??= dictionary(this.before));
    for (const [key, text] of entries) {
      if (text === null) delete db[key];
      else db[key] = text;
    }
    this.size = size;
    return undefined;
  }

  /** Returns the limit that the changes would exceed. */
  limitOf(changes: DbChanges): string | undefined {
    return this.faultOf(this.sizeAfter(changes));
  }

  private sizeAfter(changes: DbChanges): Size {
    const db = this.next ?? this.before;
    let { keys, bytes } = this.size;
    for (const [key, text] of Object.entries(changes)) {
      const old = db[key];
      keys += (text === null ? 0 : 1) - (old === undefined ? 0 : 1);
      bytes += entryBytes(key, text ?? undefined) - entryBytes(key, old);
    }
    return { keys, bytes };
  }

  private faultOf({ keys, bytes }: Size): string | undefined {
    const { dbTotalBytes, dbKeys } = RUN_LIMITS;
    // A store that is above a limit already may shrink step by step.
    if (bytes > dbTotalBytes && bytes > this.size.bytes)
      return `$.service.db would have ${bytes} bytes, at most ${dbTotalBytes} (1 MB) are allowed`;
    if (keys > dbKeys && keys > this.size.keys)
      return `$.service.db would have ${keys} keys, at most ${dbKeys} are allowed`;
    return undefined;
  }

  /** Returns the content after all applied changes. */
  result(): Db {
    if (!this.next) return this.before;
    sizes.set(this.next, this.size);
    return this.next;
  }
}
