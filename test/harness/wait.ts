import { setTimeout as pause } from 'node:timers/promises';

/**
 * Polls until the answer is not undefined. For states of another process, instead of a fixed pause. Rejects after
 * `timeoutMs` with `what` and the last error.
 */
export const eventually = async <T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 15_000,
  everyMs = 25,
): Promise<T> => {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`${what}: not so after ${timeoutMs} ms`, last === undefined ? {} : { cause: last });
    }
    await pause(everyMs);
  }
};
