import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { nextTurn, RECORDS_PER_TURN } from '../yielding.js';
import { RecordPacker } from './packed-records.js';
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

/** Records on their way to the writer. Only those whose topic exists. */
export interface Prepared {
  readonly records: readonly PreparedRecord[];
  /** For `RecordCursor`. */
  readonly packed: Buffer;
  /** Approximate memory. */
  readonly bytes: number;
}

/** Topic of a name; undefined when it was deleted. */
export type TopicOf = (name: string) => Topic | undefined;

/** Prepares records in one go. */
export const prepare = (records: readonly LogRecord[], topicOf: TopicOf, at: number): Prepared => {
  const work = new Preparation(topicOf, at);
  for (let index = 0; index < records.length; index++) work.measure(records[index], index);
  for (const record of work.records) work.pack(record);
  return work.done();
};

/** Prepares many records, in several turns of the event loop. */
export const prepareInTurns = async (
  records: readonly LogRecord[],
  topicOf: TopicOf,
  at: number,
): Promise<Prepared> => {
  const work = new Preparation(topicOf, at);
  for (let index = 0; index < records.length;) {
    work.measure(records[index], index);
    if (++index % RECORDS_PER_TURN === 0) await nextTurn();
  }
  let count = 0;
  for (const record of work.records) {
    work.pack(record);
    if (++count % RECORDS_PER_TURN === 0) await nextTurn();
  }
  return work.done();
};

/** Measures all records, and then packs them into memory of just their size. */
class Preparation {
  readonly records: PreparedRecord[] = [];
  private bytes = 0;
  private packer: RecordPacker | undefined;

  constructor(
    private readonly topicOf: TopicOf,
    private readonly at: number,
  ) {}

  measure(record: LogRecord | undefined, index: number): void {
    const topic = record && this.topicOf(record.topic);
    if (!topic) return;
    const headers = JSON.stringify(record.headers);
    const size = Buffer.byteLength(record.key) + Buffer.byteLength(headers) + Buffer.byteLength(record.value);
    this.records.push({ record, topic, index, headers, size });
    this.bytes += size;
  }

  pack({ record, topic, headers }: PreparedRecord): void {
    this.packer ??= new RecordPacker(this.records.length, this.bytes);
    this.packer.add(topic.id, this.at, record.key, headers, record.value);
  }

  done(): Prepared {
    const { records, bytes, packer = new RecordPacker(0, 0) } = this;
    return { records, packed: packer.bytes(), bytes: bytes + records.length * RECORD_OVERHEAD };
  }
}
