const PAGE = 200;

/** Reads all rows of a table in the order of a text key, page by page. Writes between two pages do no harm. */
export const pagesByKey = function* <R>(
  page: (after: string, limit: number) => readonly R[],
  keyOf: (row: R) => string,
): Generator<R> {
  for (let after = ''; ;) {
    const rows = page(after, PAGE);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = keyOf(last);
  }
};
