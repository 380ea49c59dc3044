import { type Doc, type Page, type PageQuery, UnknownCursor } from '#libs/kernel/read-model-store.js';

/** A page of a list in memory. Throws UnknownCursor. */
export const pageOf = <D extends Doc>(
  docs: readonly D[],
  { limit, after, before }: Omit<PageQuery, 'where'>,
): Page<D> => {
  const placeOf = (cursor: string): number => {
    const at = docs.findIndex(({ id }) => id === cursor);
    if (at === -1) throw new UnknownCursor(cursor);
    return at;
  };
  const end = before === undefined ? docs.length : placeOf(before);
  const start = after === undefined ? (before === undefined ? 0 : Math.max(0, end - limit)) : placeOf(after) + 1;
  return { docs: docs.slice(start, Math.min(end, start + limit)), total: docs.length };
};
