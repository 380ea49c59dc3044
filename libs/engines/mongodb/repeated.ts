import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { isOutcomeUnknown } from './write-outcome.js';

/** Longer than a replica set takes to elect a primary. */
const WITHIN_MS = 20_000;

/**
 * Repeats a request while its outcome is unknown, for the time of an election. The driver repeats a write of one
 * document once, and a write of many never. Only for requests whose repeat changes nothing more.
 */
export const repeated = async <T>(request: () => Promise<T>): Promise<T> => {
  const until = performance.now() + WITHIN_MS;
  const backoff = new Backoff({ firstMs: 50, longestMs: 1_000 });
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!isOutcomeUnknown(error) || performance.now() > until) throw error;
    }
    await pause(backoff.next());
  }
};
