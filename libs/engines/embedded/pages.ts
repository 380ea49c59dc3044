const PAGE = 200;

/** All rows of a table in the order of a text key, a page at a time: writes between two pages do no harm. */
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
