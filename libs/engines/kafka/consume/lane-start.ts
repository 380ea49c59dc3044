import { type Committed } from './offsets.js';

/** State of a lane at its leader. */
export interface LaneEnds {
  readonly topicId: string;
  /** Offset of the oldest record. A group that has read nothing begins there. */
  readonly first: number;
  /** Offset after the last record. */
  readonly end: number;
  /**
   * The newest epoch up to the committed one that has records, and the offset where it ended; -1 for both when the log
   * has none so old. Undefined when the commit names no epoch.
   */
  readonly epochEnd?: { readonly epoch: number; readonly endOffset: number } | undefined;
}

/** Place at which a member that claims a lane begins. */
export interface LaneStart {
  readonly next: number;
  /** Grows when the log assigns offsets a second time. 0 for a lane that never lost a record. */
  readonly incarnation: number;
  /** Set when the log lost records that the group had read: it ended at this offset. */
  readonly lostFrom?: number;
}

/**
 * Compares a group's committed offset with the log. When the log lost its end (a restored copy, a broker that lost its
 * disk), it assigns those offsets a second time, to records that were never read. The lane then begins where the log
 * ended, as another incarnation, to which earlier progress does not apply.
 */
export const laneStart = (committed: Committed | undefined, { topicId, first, end, epochEnd }: LaneEnds): LaneStart => {
  if (!committed || committed.next < 0) return { next: first, incarnation: 0 };
  const { next, epoch, incarnation } = committed;
  // The offset belongs to a deleted topic of the same name.
  if (committed.topicId !== undefined && committed.topicId !== topicId) return { next: first, incarnation: 0 };
  const again = (from: number): LaneStart => ({ next: from, incarnation: incarnation + 1, lostFrom: from });
  if (next > end) return again(end);
  if (epoch < 0 || !epochEnd || next === 0) return { next, incarnation };
  // The log is a copy from before that epoch and has grown since, so its former end is unknown.
  if (epochEnd.endOffset < 0) return again(first);
  if (epochEnd.endOffset < next) return again(epochEnd.endOffset);
  return { next, incarnation };
};
