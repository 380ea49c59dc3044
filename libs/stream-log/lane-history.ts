import { type StoredRecord, type StreamLog } from './stream-log.js';

const PAGE = 1_000;

export interface LaneHistoryOptions {
  /** Offset after which records are read. Default: all are read. */
  readonly after?: number;
  /** Returns the limit on records of the next page. Called before each page. */
  readonly pageSize?: () => number;
}

/**
 * Yields the records that the lane contains at the call, in order and in pages. It ends at the last of these, even
 * while others keep publishing.
 */
export async function* laneHistory(
  log: Pick<StreamLog, 'endOf' | 'read'>,
  lane: string,
  { after = -1, pageSize = () => PAGE }: LaneHistoryOptions = {},
): AsyncGenerator<readonly StoredRecord[], void, undefined> {
  const end = await log.endOf(lane);
  for (let from = after; from + 1 < end;) {
    const page = await log.read(lane, from, pageSize());
    const last = page.at(-1);
    if (!last) return;
    const records = last.offset < end ? page : page.filter(({ offset }) => offset < end);
    if (records.length > 0) yield records;
    from = last.offset;
  }
}
