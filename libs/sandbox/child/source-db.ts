import { RUN_LIMITS, TEXT_LIMITS } from '../protocol/protocol.js';

const sizeOf = (key: string, text: string): number => Buffer.byteLength(key) + Buffer.byteLength(text);

/** Store behind `$.service.db`. Maps keys to JSON texts within the limits. The runs of a source share it, and each call has its own. */
export class SourceDb {
  private readonly texts: Map<string, string>;
  private bytes = 0;

  constructor(content: Readonly<Record<string, string>>) {
    this.texts = new Map(Object.entries(content));
    for (const [key, text] of this.texts) this.bytes += sizeOf(key, text);
  }

  get(key: string): string | undefined {
    return this.texts.get(key);
  }

  delete(key: string): void {
    const old = this.texts.get(key);
    if (old !== undefined) this.bytes -= sizeOf(key, old);
    this.texts.delete(key);
  }

  /** Throws naming key, limit and size. */
  set(key: string, text: string): void {
    if (key.length > TEXT_LIMITS.dbKey)
      throw new Error(`db.set: a key may have at most ${TEXT_LIMITS.dbKey} characters, this one has ${key.length}`);
    const value = Buffer.byteLength(text);
    if (value > RUN_LIMITS.dbValueBytes)
      throw new Error(
        `db.set("${key}"): the value has ${value} bytes as JSON, at most ${RUN_LIMITS.dbValueBytes} (60 KB) are allowed`,
      );
    const old = this.texts.get(key);
    if (old === undefined && this.texts.size >= RUN_LIMITS.dbKeys)
      throw new Error(
        `db.set("${key}"): the store has ${this.texts.size} keys, at most ${RUN_LIMITS.dbKeys} are allowed`,
      );
    const total = this.bytes - (old === undefined ? 0 : sizeOf(key, old)) + sizeOf(key, text);
    if (total > RUN_LIMITS.dbTotalBytes)
      throw new Error(
        `db.set("${key}"): the store would have ${total} bytes, at most ${RUN_LIMITS.dbTotalBytes} (1 MB) are allowed`,
      );
    this.bytes = total;
    this.texts.set(key, text);
  }
}
