import { type LaneOrigin } from '#libs/stream-log/lane-origin.js';
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
  /** Undefined for a read outside of a group, which knows of no other incarnation. */
  originId?: string,
): StoredRecord[] => {
  const records: StoredRecord[] = [];
  let origin: LaneOrigin | undefined;
  for (const { offset, timestamp, epoch, key, value, headers, size } of messages) {
    if (offset < from) continue;
    if (originId !== undefined && origin?.epoch !== epoch) origin = { id: originId, epoch };
    records.push(
      origin
        ? { topic, lane, offset, headers, key, value, timestamp, size, origin }
        : { topic, lane, offset, headers, key, value, timestamp, size },
    );
  }
  return records;
};
