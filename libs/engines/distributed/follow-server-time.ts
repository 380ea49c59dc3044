import { pause } from '#libs/async/pause.js';
import { type CommonClock } from '#libs/kernel/common-clock.js';

/** Interval of readings, after which a machine's sleep or a change of the server's clock is noticed. */
const EVERY_MS = 2_000;

/**
 * Resolves once the clock has read the server's time, and then reads it regularly. Rejects when the first reading
 * fails. Later failures do not stop the clock, and other requests report them.
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
