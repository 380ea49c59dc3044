import { setTimeout as pause } from 'node:timers/promises';
import { type Exit } from './failure.js';

export interface Watching {
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** How long files must stay as they are before they count, in ms. */
  readonly calmMs?: number;
  /** Time until what failed for want of a server is tried again, in ms. */
  readonly againMs?: number;
}

/** Exits of failures that pass by themselves: no server, and a server that refuses for now. */
export const PASSING: readonly Exit[] = [7, 8];

/** Starts to tell changes. Returns what ends it. */
type Listen = (changed: () => void) => () => Promise<void>;

/**
 * Acts at once and then after each change, never twice at a time. What failed for want of a server, as the exit tells, is
 * tried again without a change. Resolves when the signal comes, after an act that had begun.
 */
export const actAfterChanges = async (
  listen: Listen,
  act: () => Promise<Exit>,
  { signal, calmMs = 200, againMs = 2_000 }: Watching,
): Promise<void> => {
  let changes = 1;
  let wake = (): void => undefined;
  const changed = (): void => {
    changes++;
    wake();
  };
  const close = listen(changed);
  signal.addEventListener('abort', changed);
  try {
    let seen = 0;
    while (!signal.aborted) {
      if (changes === seen) await new Promise<void>((resolve) => (wake = resolve));
      while (seen !== changes && !signal.aborted) {
        seen = changes;
        await pause(calmMs);
      }
      if (signal.aborted) return;
      if (PASSING.includes(await act())) setTimeout(changed, againMs).unref();
    }
  } finally {
    signal.removeEventListener('abort', changed);
    await close();
  }
};
