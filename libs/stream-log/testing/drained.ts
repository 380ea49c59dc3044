/** Resolves when nothing is left to consume. Rejects after `withinMs`. */
export const drained = async (reader: { backlog(): number }, withinMs = 10_000): Promise<void> => {
  const deadline = Date.now() + withinMs;
  while (reader.backlog() > 0) {
    if (Date.now() > deadline) throw new Error(`${reader.backlog()} records were not consumed within ${withinMs} ms`);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
};
