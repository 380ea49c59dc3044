import { type Retention, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type Lane } from './lane.js';

/** A topic as the main thread knows it. One topic is one lane of each group. */
export class Topic {
  /** Live lanes of all groups. */
  readonly lanes = new Set<Lane>();
  /** Stored bytes, once counted (retention.ts). */
  bytes: number | undefined;
  /** The newest records, all after `tailAfter`. Kept only while a live lane has not passed them. */
  tail: StoredRecord[] = [];
  tailAfter: number;
  tailBytes = 0;

  /** `lastId`: an upper bound for the offsets of the topic's durable records that the main thread knows of. */
  constructor(
    readonly id: number,
    readonly name: string,
    public retention: Retention,
    public lastId: number,
  ) {
    this.tailAfter = lastId;
  }
}
