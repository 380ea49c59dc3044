import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Logger } from '#libs/telemetry/index.js';

const PAUSES = { firstMs: 5, longestMs: 50 };

/**
 * Polls with growing pauses. Resolves with true once `holds` does, or with false after `timeoutMs`. A failing engine
 * counts as false, so that a change already made does not become an error. A failure of the last poll is logged.
 */
export const pollUntil = async (
  holds: () => Promise<boolean>,
  timeoutMs: number,
  logger: Pick<Logger, 'warn'>,
): Promise<boolean> => {
  const until = performance.now() + timeoutMs;
  let failure: unknown;
  const backoff = new Backoff(PAUSES);
  for (;;) {
    try {
      if (await holds()) return true;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    const wait = backoff.next();
    if (performance.now() + wait > until) {
      if (failure !== undefined) logger.warn({ err: failure }, 'read_models.unknown');
      return false;
    }
    await pause(wait);
  }
};
