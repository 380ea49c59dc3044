/**
 * The sequence of offsets that an offset belongs to. A lane begins a new sequence when its topic is created again, or
 * when the log loses the lane's end. The lane then assigns the same offsets a second time.
 */
export interface LaneOrigin {
  /** Differs between sequences. */
  readonly id: string;
  /** Never decreases within one sequence. A record at a known offset with a higher epoch replaced a lost one. */
  readonly epoch: number;
}

/**
 * Whether progress with the origin `known` says nothing about a record at one of its offsets. An undefined origin means
 * that the log never assigns an offset twice.
 */
export const isAnotherLog = (record: LaneOrigin | undefined, known: LaneOrigin | undefined): boolean =>
  record !== undefined && known !== undefined && (record.id !== known.id || record.epoch > known.epoch);

/** Returns the origin to store with progress to which a record of this origin was added. */
export const newestOrigin = (known: LaneOrigin | undefined, record: LaneOrigin | undefined): LaneOrigin | undefined =>
  known === undefined || record === undefined || isAnotherLog(record, known) ? (record ?? known) : known;
