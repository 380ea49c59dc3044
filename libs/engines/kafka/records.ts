import { type LogRecord, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type FetchedMessage, type ProduceMessage } from './wire/protocol.js';

/** Approximate size of a record on the wire in bytes. Retention by size counts it too. */
export const sizeOf = ({ key, value }: { readonly key: string; readonly value: string }): number =>
  Buffer.byteLength(value) + key.length + 200;

export const messageOfRecord = ({ key, value, headers }: LogRecord, timestamp: number): ProduceMessage => ({
  key,
  value,
  headers,
  timestamp,
});

/** Records from an offset on. A fetch begins with the whole batch that contains the offset. */
export const storedRecords = (
  lane: string,
  topic: string,
  messages: readonly FetchedMessage[],
  from: number,
): StoredRecord[] => {
  const records: StoredRecord[] = [];
  for (const message of messages) {
    const offset = Number(message.offset);
    if (offset < from) continue;
    const headers: Record<string, string> = {};
    let size = (message.key?.length ?? 0) + (message.value?.length ?? 0);
    for (const [name, value] of Object.entries(message.headers)) {
      const text = textOf(value);
      headers[name] = text;
      size += name.length + text.length;
    }
    records.push({
      topic,
      lane,
      offset,
      headers,
      key: message.key?.toString() ?? '',
      value: message.value?.toString() ?? '',
      timestamp: Number(message.timestamp),
      size,
    });
  }
  return records;
};

const textOf = (value: Buffer | readonly Buffer[]): string =>
  Buffer.isBuffer(value) ? value.toString() : (value.at(-1)?.toString() ?? '');
