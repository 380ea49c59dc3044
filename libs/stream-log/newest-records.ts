import { type StoredRecord } from './stream-log.js';
import { type StreamProjection } from './stream-projection.js';

/**
 * Factor by which more records are kept than a list has documents. Records are only nearly in the order of their
 * documents, and the fold chooses among these by the schema's sort.
 */
const MARGIN = 2;

/**
 * Leaves out records whose documents would not be kept, because enough records of the same list follow. At a source
 * with thousands of events a second, this avoids making nearly all of its documents.
 */
export const newestRecords = (
  { listOf, keep }: Pick<StreamProjection, 'listOf' | 'keep'>,
  records: readonly StoredRecord[],
): readonly StoredRecord[] => {
  const most = MARGIN * keep.newest;
  if (!listOf || records.length <= most) return records;
  const counts = new Map<string, number>();
  const newest: StoredRecord[] = [];
  for (let at = records.length - 1; at >= 0; at--) {
    const record = records[at] as StoredRecord;
    const list = listOf(record);
    // A removal may leave room for documents before it.
    if (list === undefined) return records;
    const count = (counts.get(list) ?? 0) + 1;
    counts.set(list, count);
    if (count <= most) newest.push(record);
  }
  return newest.reverse();
};
