/**
 * Records as bytes: on their way to the writer thread, and in a row of `chunks`. Each record has a head and then its key,
 * headers and value as UTF-8. The writer copies them as they are, so no text is decoded and encoded again on its way
 * to the file.
 *
 * Head: u32 topic id, u32 offset minus that of its chunk (set by the writer), u32 bytes of key, headers and value, f64
 * time of the append in epoch milliseconds. Little-endian.
 */
const HEAD = 28;
const OFFSET_AT = 4;
const KEY_AT = 8;
const HEADERS_AT = 12;
const VALUE_AT = 16;
const TIME_AT = 20;

export interface RecordTexts {
  readonly key: string;
  readonly headers: string;
  readonly value: string;
}

/** Bytes of the texts as UTF-8. */
export const textBytes = (key: string, headers: string, value: string): number =>
  Buffer.byteLength(key) + Buffer.byteLength(headers) + Buffer.byteLength(value);

/** Size of a packed record in bytes. */
export const packedBytes = (ofTexts: number): number => HEAD + ofTexts;

/** Writes a record at `start`, and returns where it ends. There must be room for its `packedBytes`. */
export const packRecord = (
  target: Buffer,
  start: number,
  topic: number,
  at: number,
  { key, headers, value }: RecordTexts,
): number => {
  let end = start + HEAD;
  const keyBytes = target.write(key, end);
  end += keyBytes;
  const headerBytes = target.write(headers, end);
  end += headerBytes;
  const valueBytes = target.write(value, end);
  target.writeUInt32LE(topic, start);
  target.writeUInt32LE(0, start + OFFSET_AT);
  target.writeUInt32LE(keyBytes, start + KEY_AT);
  target.writeUInt32LE(headerBytes, start + HEADERS_AT);
  target.writeUInt32LE(valueBytes, start + VALUE_AT);
  target.writeDoubleLE(at, start + TIME_AT);
  return end + valueBytes;
};

/** A record among packed ones, read where it lies. */
export class RecordCursor {
  private start = 0;
  private next = 0;

  constructor(private readonly packed: Buffer) {}

  /** Moves to the next record. Returns false after the last one. */
  forward(): boolean {
    this.start = this.next;
    if (this.start >= this.packed.length) return false;
    this.next = this.start + HEAD + this.size;
    return true;
  }

  get topic(): number {
    return this.packed.readUInt32LE(this.start);
  }

  /** Offset relative to the first record of the chunk. */
  get offset(): number {
    return this.packed.readUInt32LE(this.start + OFFSET_AT);
  }

  set offset(offset: number) {
    this.packed.writeUInt32LE(offset, this.start + OFFSET_AT);
  }

  get at(): number {
    return this.packed.readDoubleLE(this.start + TIME_AT);
  }

  /** Bytes of key, headers and value. */
  get size(): number {
    const { packed, start } = this;
    return (
      packed.readUInt32LE(start + KEY_AT) +
      packed.readUInt32LE(start + HEADERS_AT) +
      packed.readUInt32LE(start + VALUE_AT)
    );
  }

  texts(): RecordTexts {
    const { packed, start } = this;
    const key = start + HEAD;
    const headers = key + packed.readUInt32LE(start + KEY_AT);
    const value = headers + packed.readUInt32LE(start + HEADERS_AT);
    const end = value + packed.readUInt32LE(start + VALUE_AT);
    return {
      key: packed.toString('utf8', key, headers),
      headers: packed.toString('utf8', headers, value),
      value: packed.toString('utf8', value, end),
    };
  }

  /** Bytes of the record with its head, without a copy. */
  whole(): Buffer {
    return this.packed.subarray(this.start, this.next);
  }
}
