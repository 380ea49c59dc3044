import { crc32c } from '@platformatic/kafka';
import { type ProduceMessage } from './protocol.js';

/** The one who sends a batch, and the number of its first record, by which the broker knows a repeat. */
export interface BatchOrigin {
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly firstSequence: number;
}

/** Version 2 of the format, which every broker since 0.11 has. */
const FORMAT = 2;
/** Bytes before the length's end, before the checked part, and before the records. */
const LENGTH_END = 12;
const CHECKED_FROM = 21;
const HEAD = 61;
const NO_EPOCH = -1;
/** Most that a variable-length number takes. */
const NUMBER_BYTES = 8;
/** What most records take for their length: it holds up to 8,191 bytes. */
const LENGTH_BYTES = 2;

/**
 * The records of a partition as one batch, uncompressed, as the log keeps it. The client library makes several objects
 * and buffers of each text: a record of 1 KB with ten headers took it 9 to 10 µs, and takes 3 here (docs/adr/0053).
 */
export const encodeBatch = (messages: readonly ProduceMessage[], origin: BatchOrigin): Buffer => {
  const first = messages[0]?.timestamp ?? 0;
  const writer = new RecordWriter(messages.reduce((sum, { value }) => sum + value.length + 512, HEAD));
  let latest = first;
  messages.forEach((message, index) => {
    if (message.timestamp > latest) latest = message.timestamp;
    writer.record(message, index, message.timestamp - first);
  });
  const batch = writer.written();
  batch.writeBigInt64BE(0n, 0);
  batch.writeInt32BE(batch.length - LENGTH_END, 8);
  batch.writeInt32BE(NO_EPOCH, LENGTH_END);
  batch.writeInt8(FORMAT, 16);
  batch.writeInt16BE(0, CHECKED_FROM);
  batch.writeInt32BE(messages.length - 1, 23);
  batch.writeBigInt64BE(BigInt(first), 27);
  batch.writeBigInt64BE(BigInt(latest), 35);
  batch.writeBigInt64BE(BigInt(origin.producerId), 43);
  batch.writeInt16BE(origin.producerEpoch, 51);
  batch.writeInt32BE(origin.firstSequence, 53);
  batch.writeInt32BE(messages.length, 57);
  batch.writeUInt32BE(crc32c(batch.subarray(CHECKED_FROM)), 17);
  return batch;
};

/** Writes records one after the other, behind room for the head of their batch. */
class RecordWriter {
  private bytes: Buffer;
  private at = HEAD;

  /** @param expected bytes of the batch */
  constructor(expected: number) {
    this.bytes = Buffer.allocUnsafe(expected);
  }

  written(): Buffer {
    return this.bytes.subarray(0, this.at);
  }

  record({ key, value, headers }: ProduceMessage, index: number, delay: number): void {
    const start = this.at;
    this.room(LENGTH_BYTES + 1);
    this.at += LENGTH_BYTES;
    this.bytes[this.at++] = 0;
    this.number(delay);
    this.number(index);
    this.text(key);
    this.text(value);
    const names = Object.keys(headers);
    this.number(names.length);
    for (const name of names) {
      this.text(name);
      this.text(headers[name] ?? '');
    }
    this.prefix(start);
  }

  /** Writes the length of what was written since, before it. */
  private prefix(start: number): void {
    const from = start + LENGTH_BYTES;
    const length = this.at - from;
    const takes = bytesOf(length);
    if (takes !== LENGTH_BYTES) {
      this.room(NUMBER_BYTES);
      this.bytes.copyWithin(start + takes, from, this.at);
    }
    this.at = start;
    this.number(length);
    this.at += length;
  }

  private text(text: string): void {
    if (text.length <= SHORT && this.ascii(text)) return;
    const length = Buffer.byteLength(text);
    this.number(length);
    this.room(length);
    // As many bytes as characters: each is below 128, and is copied as it is.
    if (length > 0) this.bytes.write(text, this.at, length === text.length ? 'latin1' : 'utf8');
    this.at += length;
  }

  /** Writes a short text of characters below 128. Returns false, with nothing written, for any other. */
  private ascii(text: string): boolean {
    const { length } = text;
    this.room(length + 1);
    const { bytes } = this;
    let { at } = this;
    bytes[at++] = length << 1;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) return false;
      bytes[at++] = code;
    }
    this.at = at;
    return true;
  }

  /** A whole number, of either sign, in as few bytes as it needs. */
  private number(value: number): void {
    this.room(NUMBER_BYTES);
    let rest = zigzag(value);
    while (rest > 127) {
      this.bytes[this.at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.at++] = rest;
  }

  private room(bytes: number): void {
    if (this.at + bytes <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.at + bytes));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }
}

/** Characters up to which a loop beats a call into native code, and whose number takes one byte. */
const SHORT = 63;

const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);

const bytesOf = (value: number): number => {
  let bytes = 1;
  for (let rest = zigzag(value); rest > 127; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
};
