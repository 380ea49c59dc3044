import { type StoredRecord, type TopicSelector } from '#libs/stream-log/stream-log.js';
import { type Topic } from './topic.js';

/** Reader of live records (`tail`). */
export interface LiveReader {
  readonly topics: TopicSelector;
  readonly onRecords: (records: readonly StoredRecord[]) => void;
}

/** Approximate memory of a record besides its value, in bytes. */
const OVERHEAD = 400;

/**
 * The newest records in memory, so that a consumer that keeps up never reads from disk. Above `limit`, the topic with
 * the oldest tail loses it, and its lanes read from the file.
 */
export class TailCache {
  private readonly holding = new Set<Topic>();
  private held = 0;

  constructor(private readonly limit: number) {}

  get bytes(): number {
    return this.held;
  }

  /** Adds a record. Records must arrive in order of offset. Call it before `topic.lastId` changes. */
  add(topic: Topic, record: StoredRecord): void {
    if (topic.lanes.size === 0) {
      if (topic.tail.length > 0) this.drop(topic);
      return;
    }
    if (topic.tail.length === 0) {
      topic.tailAfter = topic.lastId;
      this.holding.add(topic);
    }
    topic.tail.push(record);
    const bytes = record.value.length + OVERHEAD;
    topic.tailBytes += bytes;
    this.held += bytes;
    while (this.held > this.limit) {
      const [first] = this.holding;
      if (!first) return;
      this.drop(first);
    }
  }

  /** Returns the next records after `position`, or undefined when some of them are not in memory. */
  read(topic: Topic, position: number, max: number): StoredRecord[] | undefined {
    if (topic.tail.length === 0 || position < topic.tailAfter) return undefined;
    const start = firstAfter(topic.tail, position);
    return topic.tail.slice(start, start + max);
  }

  /** Drops the records that every lane has passed. */
  trim(topic: Topic): void {
    if (topic.tail.length === 0) return;
    let passed = Number.POSITIVE_INFINITY;
    for (const lane of topic.lanes) passed = Math.min(passed, lane.position);
    const gone = firstAfter(topic.tail, passed);
    // Cutting a long array at every batch would be quadratic.
    if (gone === topic.tail.length) this.drop(topic);
    else if (gone >= 64 && gone * 2 >= topic.tail.length) {
      for (const record of topic.tail.splice(0, gone)) {
        const bytes = record.value.length + OVERHEAD;
        topic.tailAfter = record.offset;
        topic.tailBytes -= bytes;
        this.held -= bytes;
      }
    }
  }

  drop(topic: Topic): void {
    topic.tailAfter = topic.tail.at(-1)?.offset ?? topic.tailAfter;
    topic.tail = [];
    this.held -= topic.tailBytes;
    topic.tailBytes = 0;
    this.holding.delete(topic);
  }
}

const firstAfter = (records: readonly StoredRecord[], position: number): number => {
  let [low, high] = [0, records.length];
  if ((records[0]?.offset ?? Number.POSITIVE_INFINITY) > position) return 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((records[middle]?.offset ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
};
