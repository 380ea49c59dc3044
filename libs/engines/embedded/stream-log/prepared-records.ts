import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { nextTurn, RECORDS_PER_TURN } from '../yielding.js';
import { type Packable } from '../writer/writer.js';
import { packedBytes, packRecord, textBytes } from './packed-records.js';
import { type Topic } from './topic.js';

/** Approximate memory of a record on its way to the writer besides its texts, in bytes. */
const RECORD_OVERHEAD = 150;

export interface PreparedRecord {
  readonly record: LogRecord;
  readonly topic: Topic;
  /** Index in the caller's list. */
  readonly index: number;
  /** JSON. */
  readonly headers: string;
  /** Bytes of key, headers and value. */
  readonly size: number;
}

/** Finds a topic by its name; undefined when it was deleted. */
export type TopicOf = (name: string) => Topic | undefined;

/** Records on their way to the writer, without those of deleted topics. */
export class PreparedRecords implements Packable {
  readonly records: PreparedRecord[] = [];
  packedBytes = 0;

  constructor(
    private readonly topicOf: TopicOf,
    /** Epoch milliseconds. */
    readonly at: number,
  ) {}

  /** Approximate memory. */
  get bytes(): number {
    return this.packedBytes + this.records.length * RECORD_OVERHEAD;
  }

  addAll(records: readonly LogRecord[]): this {
    for (let index = 0; index < records.length; index++) this.add(records[index], index);
    return this;
  }

  /** Adds many records over several turns of the event loop. */
  async addInTurns(records: readonly LogRecord[]): Promise<this> {
    for (let index = 0; index < records.length;) {
      this.add(records[index], index);
      if (++index % RECORDS_PER_TURN === 0) await nextTurn();
    }
    return this;
  }

  packInto(target: Buffer, start: number): void {
    let end = start;
    for (const { record, topic, headers } of this.records)
      end = packRecord(target, end, topic.id, this.at, { key: record.key, headers, value: record.value });
  }

  private add(record: LogRecord | undefined, index: number): void {
    const topic = record && this.topicOf(record.topic);
    if (!topic) return;
    const headers = JSON.stringify(record.headers);
    const size = textBytes(record.key, headers, record.value);
    this.records.push({ record, topic, index, headers, size });
    this.packedBytes += packedBytes(size);
  }
}
