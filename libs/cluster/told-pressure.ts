import { type Pressure } from '#libs/kernel/process-registry.js';

/** Least number of records of a source or workspace that is reported to other processes. */
const WORTH_TELLING = 128;
const MOST_TOLD = 200;

const most = (counts: Iterable<readonly [id: string, records: number]>): Record<string, number> => {
  const many = [...counts].filter(([, records]) => records >= WORTH_TELLING);
  if (many.length > MOST_TOLD) many.sort(([, a], [, b]) => b - a).length = MOST_TOLD;
  return Object.fromEntries(many.map(([id, records]) => [id, Math.floor(records)]));
};

/** Counts a process's records by source and workspace. `behind` returns the backlog beyond the delivered records. */
export const pressureOf = (
  counts: {
    readonly bySource: () => Iterable<readonly [string, number]>;
    readonly byWorkspace: () => Iterable<readonly [string, number]>;
    sourcesOf?(workspaceId: string): number;
  },
  behind: (sourceId: string) => number = () => 0,
): Pressure | undefined => {
  const sources = most(withBehind(counts.bySource(), behind));
  const workspaces = most(counts.byWorkspace());
  const ids = Object.keys(workspaces);
  if (Object.keys(sources).length === 0 && ids.length === 0) return undefined;
  if (!counts.sourcesOf) return { sources, workspaces };
  return { sources, workspaces, sourcesOf: Object.fromEntries(ids.map((id) => [id, counts.sourcesOf?.(id) ?? 0])) };
};

/** A consumer receives few large records at a time, however many wait. */
function* withBehind(
  counts: Iterable<readonly [id: string, records: number]>,
  behind: (sourceId: string) => number,
): Iterable<readonly [id: string, records: number]> {
  for (const [id, records] of counts) yield [id, Math.max(records, behind(id))];
}
