import { type Retention, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type Lane } from './lane.js';

/** A topic as the main thread knows it. One topic is one lane of each group. */
export class Topic {
  /** Live lanes of all groups. */
  readonly lanes = new Set<Lane>();
  /** Bytes kept, once counted (retention.ts). */
  bytes: number | undefined;
  /** Newest records, every one after `tailAfter`; held only while a live lane has not passed them. */
  tail: StoredRecord[] = [];
  tailAfter: number;
  tailBytes = 0;

  /** `lastId`: no record of the topic that is durable and known to the main thread has a higher offset. */
  constructor(
    readonly id: number,
    readonly name: string,
    public retention: Retention,
    public lastId: number,
  ) {
    this.tailAfter = lastId;
  }
}
