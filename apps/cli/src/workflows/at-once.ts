/** Applies `act` to each item, a few at once. Resolves in the order of the items. After a failure no further one begins. */
export const mapAtOnce = async <T, R>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<R>,
): Promise<readonly R[]> => {
  const results = new Map<number, R>();
  const left = items.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [i, item] of left) {
      if (failed) return;
      try {
        results.set(i, await act(item));
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return items.flatMap((_, i) => (results.has(i) ? [results.get(i) as R] : []));
};

/** Reads that a command sends at once. */
export const READS_AT_ONCE = 4;
