import { setTimeout as pause } from 'node:timers/promises';
import { type Logger } from '#libs/telemetry/index.js';

const FIRST_MS = 5;
const LONGEST_MS = 50;

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
  for (let wait = FIRST_MS; ; wait = Math.min(wait * 2, LONGEST_MS)) {
    try {
      if (await holds()) return true;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    if (performance.now() + wait > until) {
      if (failure !== undefined) logger.warn({ err: failure }, 'read_models.unknown');
      return false;
    }
    await pause(wait);
  }
};
