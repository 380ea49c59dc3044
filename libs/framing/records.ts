/**
 * Records between a server and a process that it started: over two simplex sockets, each with a length.
 *
 * A record is `[u32 index][u32 json bytes][u32 raw bytes][json][raw]`, little endian. The raw part holds large texts
 * (events, payloads). It is cut out by length and never parsed, so that no text can pose as another record.
 */
import { isUtf8 } from 'node:buffer';

export const HEADER_BYTES = 12;
/** File descriptors of the child. */
export const DOWN_FD = 3;
export const UP_FD = 4;
/** Size limit of a record in either direction. The largest are a batch of large events, or one full payload. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024;

export interface RawRecord {
  readonly index: number;
  readonly json: Buffer;
  readonly raw: Buffer;
}

/** Thrown when a child breaks the protocol. Its process is ended. */
export class ProtocolBreach extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolBreach';
  }
}

/** Decodes bytes of a child. Throws ProtocolBreach for invalid UTF-8, which would grow when decoded. */
export const textOf = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw new ProtocolBreach('a child sent bytes that are no UTF-8');
  return bytes.toString('utf8');
};

export const recordBytes = (jsonBytes: number, rawBytes: number): number => HEADER_BYTES + jsonBytes + rawBytes;

/** Writes a header at `offset`. */
export const writeHeader = (into: Buffer, offset: number, index: number, jsonBytes: number, rawBytes: number): void => {
  into.writeUInt32LE(index >>> 0, offset);
  into.writeUInt32LE(jsonBytes, offset + 4);
  into.writeUInt32LE(rawBytes, offset + 8);
};

export const encodeRecord = (index: number, message: unknown, texts: readonly (string | Buffer)[] = []): Buffer => {
  const json = JSON.stringify(message);
  const jsonBytes = Buffer.byteLength(json);
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const rawBytes = lengths.reduce((sum, length) => sum + length, 0);
  const out = Buffer.allocUnsafe(recordBytes(jsonBytes, rawBytes));
  writeHeader(out, 0, index, jsonBytes, rawBytes);
  out.write(json, HEADER_BYTES);
  let at = HEADER_BYTES + jsonBytes;
  texts.forEach((text, i) => {
    if (typeof text === 'string') out.write(text, at);
    else text.copy(out, at);
    at += lengths[i] ?? 0;
  });
  return out;
};

const NOTHING = Buffer.alloc(0);

/**
 * Cuts a byte stream into records, in any fragmentation, and copies each byte at most twice. The buffers passed on are
 * views, valid only during the call. Throws ProtocolBreach on an oversized record.
 */
export class RecordParser {
  private parts: Buffer[] = [];
  private have = 0;
  private need = HEADER_BYTES;

  constructor(
    private readonly maxBytes: number,
    private readonly onRecord: (record: RawRecord) => void,
  ) {}

  /** Handles at most `most` records. Returns the unread bytes, which the caller must push next. */
  push(chunk: Buffer, most = Infinity): Buffer {
    if (this.have > 0) {
      this.parts.push(chunk);
      this.have += chunk.length;
      if (this.have < this.need) return NOTHING;
      chunk = this.parts.length === 1 ? chunk : Buffer.concat(this.parts, this.have);
    }
    this.parts = [];
    this.have = 0;
    const { at, isFull } = this.cut(chunk, most);
    const tail = chunk.subarray(at);
    if (isFull) return tail;
    if (tail.length > 0) {
      this.parts.push(tail);
      this.have = tail.length;
    }
    return NOTHING;
  }

  /** Bytes of an incomplete record. */
  pending(): number {
    return this.have;
  }

  private cut(buffer: Buffer, most: number): { readonly at: number; readonly isFull: boolean } {
    let at = 0;
    this.need = HEADER_BYTES;
    for (let count = 0; buffer.length - at >= HEADER_BYTES; count++) {
      if (count >= most) return { at, isFull: true };
      const jsonBytes = buffer.readUInt32LE(at + 4);
      const rawBytes = buffer.readUInt32LE(at + 8);
      const total = recordBytes(jsonBytes, rawBytes);
      if (total > this.maxBytes)
        throw new ProtocolBreach(`a record of ${total} bytes exceeds the limit of ${this.maxBytes} bytes`);
      if (buffer.length - at < total) {
        this.need = total;
        break;
      }
      const rawAt = at + HEADER_BYTES + jsonBytes;
      this.onRecord({
        index: buffer.readUInt32LE(at),
        json: buffer.subarray(at + HEADER_BYTES, rawAt),
        raw: buffer.subarray(rawAt, rawAt + rawBytes),
      });
      at += total;
    }
    return { at, isFull: false };
  }
}
