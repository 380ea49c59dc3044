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
  /** Undefined for a read outside of a group, which knows no incarnations. */
  originId?: string,
): StoredRecord[] => {
  const records: StoredRecord[] = [];
  for (const message of messages) {
    const { offset, key, value, timestamp, epoch } = message;
    if (offset < from) continue;
    const headers: Record<string, string> = {};
    let size = (key?.length ?? 0) + (value?.length ?? 0);
    for (const [name, text] of message.headers) {
      headers[name?.toString() ?? ''] = text?.toString() ?? '';
      size += (name?.length ?? 0) + (text?.length ?? 0);
    }
    records.push({
      topic,
      lane,
      offset,
      headers,
      key: key?.toString() ?? '',
      value: value?.toString() ?? '',
      timestamp,
      size,
      ...(originId !== undefined && { origin: { id: originId, epoch } }),
    });
  }
  return records;
};
