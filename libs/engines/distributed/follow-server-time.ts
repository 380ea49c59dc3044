import { pause } from '#libs/async/pause.js';
import { type CommonClock } from '#libs/kernel/common-clock.js';

/** How long the clock may go on after a machine slept, or after the server's clock was set. */
const EVERY_MS = 2_000;

/** Reads the server's time again and again. The clock goes on while it cannot be read, which other requests tell. */
export const followServerTime = (
  clock: Pick<CommonClock, 'read'>,
  serverTime: () => Promise<number>,
  everyMs = EVERY_MS,
): { stop(): void } => {
  const stopped = new AbortController();
  const run = async (): Promise<void> => {
    for (;;) {
      await pause(everyMs, stopped.signal);
      if (stopped.signal.aborted) return;
      await clock.read(serverTime).catch(() => undefined);
    }
  };
  void run();
  return { stop: () => stopped.abort() };
};
