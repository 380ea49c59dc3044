import { pause } from '#libs/async/pause.js';

/** Times after which an append without an answer is looked for in its stream, each after the one before. */
const LOOKS_MS = [1_000, 2_000, 4_000, 8_000];

/**
 * The outcome of an append, of which the server may say nothing or something else: of two equal appends at once it refuses
 * one, or leaves it without an answer. Whichever way, it is done when its events are in the stream.
 *
 * @param find resolves with the result when all events of the append are in the stream, else with undefined.
 */
export const settled = async <T>(appending: Promise<T>, find: () => Promise<T | undefined>): Promise<T> => {
  const answer = appending.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  for (const ms of LOOKS_MS) {
    if (await isFirst(answer, ms)) break;
    const found = await find().catch(() => undefined);
    if (found !== undefined) return found;
  }
  const outcome = await answer;
  if ('value' in outcome) return outcome.value;
  const found = await find().catch(() => undefined);
  if (found !== undefined) return found;
  throw outcome.error;
};

/** Whether the answer comes within `ms`. */
const isFirst = async (answer: Promise<unknown>, ms: number): Promise<boolean> => {
  const waiting = new AbortController();
  try {
    return await Promise.race([answer.then(() => true), pause(ms, waiting.signal).then(() => false)]);
  } finally {
    waiting.abort();
  }
};
