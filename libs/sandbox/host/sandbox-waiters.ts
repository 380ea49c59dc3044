import { type Entry } from './pooled-sandbox.js';

/** Source that waits for a process. */
export interface Waiter {
  readonly sourceId: string;
  readonly entry: Entry;
  readonly go: () => void;
  readonly refuse: (reason: Error) => void;
}

/** What one workspace holds of the pool. */
export interface Holding {
  /** Places of its processes. */
  all: number;
  /** Its processes that are starting. */
  starting: number;
}

export const holdingOf = (held: Map<string, Holding>, workspaceId: string): Holding => {
  const known = held.get(workspaceId);
  if (known) return known;
  const none = { all: 0, starting: 0 };
  held.set(workspaceId, none);
  return none;
};

/** What each workspace holds that has a process or waits for one. */
export const heldBy = (entries: readonly Entry[]): Map<string, Holding> => {
  const held = new Map<string, Holding>();
  for (const entry of entries) {
    const own = holdingOf(held, entry.workspaceId);
    if (entry.starting) own.starting++;
    if (entry.isLiving) own.all += entry.places;
  }
  return held;
};

/** Places of the processes that live. */
export const placesOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { isLiving, places }) => sum + (isLiving ? places : 0), 0);

/** Places of an entry's workspace. */
export const sizeOf =
  (held: ReadonlyMap<string, Holding>) =>
  ({ workspaceId }: Entry): number =>
    held.get(workspaceId)?.all ?? 0;

/**
 * The least recently used idle process of the workspace with the most places. A source's process that was used after
 * `before` is left out, because its caller may be about to use it.
 */
export const idlestOf = (
  entries: Iterable<Entry>,
  held: ReadonlyMap<string, Holding>,
  before: number,
): Entry | undefined => {
  const size = sizeOf(held);
  const [idlest] = [...entries]
    .filter(({ inner, going }) => inner?.alive() === true && going === 0)
    .filter(({ isKept, usedAt }) => isKept || usedAt <= before)
    .sort((a, b) => size(b) - size(a) || a.usedAt - b.usedAt);
  return idlest;
};

/** The longest running busy process of the workspace with the most places, if that has more than `share`. */
export const longestBusy = (
  entries: Iterable<Entry>,
  held: ReadonlyMap<string, Holding>,
  share: number,
): Entry | undefined => {
  const size = sizeOf(held);
  const [longest] = [...entries]
    .filter((entry) => entry.inner?.alive() === true && entry.going > 0 && size(entry) > share)
    .sort((a, b) => size(b) - size(a) || a.startedAt - b.startedAt);
  return longest;
};

/** The kept processes of calls of a workspace beyond `most` places, but for the one that was used last. */
export const keptBeyond = (entries: Iterable<Entry>, workspaceId: string, most: number): readonly Entry[] => {
  let places = 0;
  return [...entries]
    .reverse()
    .filter((entry) => entry.isKept && entry.workspaceId === workspaceId)
    .sort((a, b) => b.usedAt - a.usedAt)
    .filter((entry, index) => (places += entry.places) > most && index > 0);
};

/**
 * Picks the next waiter: the one that has waited longest, in the workspace with the fewest places. With several
 * workspaces, none may have more than half of the starts. Returns undefined when no process may start now.
 */
export const nextOf = (
  waiting: readonly Waiter[],
  held: ReadonlyMap<string, Holding>,
  maxStarting: number,
): Waiter | undefined => {
  let starting = 0;
  for (const each of held.values()) starting += each.starting;
  if (starting >= maxStarting) return undefined;
  const mostOfOne = held.size > 1 ? Math.ceil(maxStarting / 2) : maxStarting;
  let next: Waiter | undefined;
  let fewest = Infinity;
  for (const waiter of waiting) {
    const own = held.get(waiter.entry.workspaceId) ?? { all: 0, starting: 0 };
    if (own.all >= fewest || own.starting >= mostOfOne) continue;
    next = waiter;
    fewest = own.all;
  }
  return next;
};
