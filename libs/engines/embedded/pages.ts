const PAGE = 200;

/**
 * Reads the rows of a table in the order of a text key, page by page, up to the greatest key that it has at the call.
 * Writes between two pages do no harm.
 */
export const pagesByKey = function* <R>(
  /** Undefined or null for an empty table. */
  last: string | null | undefined,
  page: (after: string, last: string, limit: number) => readonly R[],
  keyOf: (row: R) => string,
): Generator<R> {
  if (last === null || last === undefined) return;
  for (let after = ''; ;) {
    const rows = page(after, last, PAGE);
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) return;
    after = keyOf(end);
  }
};
