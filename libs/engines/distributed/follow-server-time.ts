import { pause } from '#libs/async/pause.js';
import { type CommonClock } from '#libs/kernel/common-clock.js';

/** How long the clock may go on after a machine slept, or after the server's clock was set. */
const EVERY_MS = 2_000;

/**
 * Resolves once the clock has read the server's time, and reads it again and again from then on. Rejects when the first
 * reading fails. Later the clock goes on while the server cannot be read, which other requests tell.
 */
export const followServerTime = async (
  clock: Pick<CommonClock, 'read'>,
  serverTime: () => Promise<number>,
  everyMs = EVERY_MS,
): Promise<{ stop(): void }> => {
  await clock.read(serverTime);
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
