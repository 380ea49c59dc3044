import { setTimeout as pause } from 'node:timers/promises';
import { type Logger } from '#libs/telemetry/index.js';

const FIRST_MS = 5;
const LONGEST_MS = 50;

/**
 * Asks, with pauses that grow, until it holds: true; or until the time is over: false. An engine that cannot be asked
 * has not said yes: what is carried out does not turn to an error by it. If it still cannot be at the end, a line says so.
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
