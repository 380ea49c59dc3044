import { type EgressRefused } from './address-policy.js';

export interface RefusalLogger {
  warn(fields: object, message: string): void;
}

const MAX_LINES = 20;
const PERIOD_MS = 60_000;

/** Logs for operators the details that users do not see. Writes 20 lines a minute at most, so scans fill no log. */
export const refusalLog = (logger: RefusalLogger, now: () => number = Date.now): ((refused: EgressRefused) => void) => {
  let since = -Infinity;
  let lines = 0;
  let unlogged = 0;
  return ({ host, address, reason, allowEntry }) => {
    const at = now();
    if (at - since >= PERIOD_MS) {
      since = at;
      lines = 0;
    }
    if (++lines > MAX_LINES) {
      unlogged++;
      return;
    }
    logger.warn({ host, address, reason, allowEntry, ...(unlogged > 0 ? { unlogged } : {}) }, 'egress.refused');
    unlogged = 0;
  };
};
