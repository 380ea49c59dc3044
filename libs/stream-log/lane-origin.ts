/**
 * The sequence of offsets to which a record's offset belongs. A lane begins a new one when its topic was created anew, or
 * when the log lost its end: then it gives out offsets a second time.
 */
export interface LaneOrigin {
  /** Another id is another sequence. */
  readonly id: string;
  /** Never falls within one sequence. A record at a known offset with a higher epoch took the place of a lost one. */
  readonly epoch: number;
}

/**
 * Whether progress that ended with `known` says nothing about a record at one of its offsets. Undefined: the log never
 * gives out an offset twice.
 */
export const isAnotherLog = (record: LaneOrigin | undefined, known: LaneOrigin | undefined): boolean =>
  record !== undefined && known !== undefined && (record.id !== known.id || record.epoch > known.epoch);

/** The origin to store with progress to which a record of this origin was added. */
export const newestOrigin = (known: LaneOrigin | undefined, record: LaneOrigin | undefined): LaneOrigin | undefined =>
  known === undefined || record === undefined || isAnotherLog(record, known) ? (record ?? known) : known;
