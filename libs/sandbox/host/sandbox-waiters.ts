import { type Entry } from './pooled-sandbox.js';

/** Source that waits for a process. */
export interface Waiter {
  readonly sourceId: string;
  readonly entry: Entry;
  readonly go: () => void;
  readonly refuse: (reason: Error) => void;
}

/** Process counts of one workspace. */
export interface Holding {
  all: number;
  starting: number;
}

export const holdingOf = (held: Map<string, Holding>, workspaceId: string): Holding => {
  const known = held.get(workspaceId);
  if (known) return known;
  const none = { all: 0, starting: 0 };
  held.set(workspaceId, none);
  return none;
};

/**
 * Picks the next waiter: the one that has waited longest, in the workspace with the fewest processes. With several
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
