import { endsWithin, withDeadline } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';

/** Pauses after which an append without an answer is looked for in its stream. */
const LOOKS_MS = [1_000, 2_000, 4_000, 8_000];
/** Longest look. */
const LOOK_MS = 1_000;
/** Pauses after a refusal, because the events of the twin that was accepted can be read a moment later. */
const MOMENTS_MS = [10, 30, 100, 300];

/** Events in the stream after the expected revision of an append. */
export type Look<T> = { readonly found: T } | 'other events' | 'nothing yet';

/**
 * Finds the true outcome of an append. The server may refuse one of two equal concurrent appends, or leave it without
 * an answer. In each case the append is done when its events are in the stream.
 *
 * @param look resolves with `found` when all events of the append are in the stream.
 */
export const settled = async <T>(appending: Promise<T>, look: () => Promise<Look<T>>): Promise<T> => {
  const answer = appending.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  for (const ms of LOOKS_MS) {
    if (await endsWithin(answer, ms)) break;
    const seen = await lookSafely(look);
    if (typeof seen === 'object') return seen.found;
  }
  const outcome = await answer;
  if ('value' in outcome) return outcome.value;
  for (const ms of [0, ...MOMENTS_MS]) {
    if (ms > 0) await pause(ms);
    const seen = await lookSafely(look);
    if (typeof seen === 'object') return seen.found;
    if (seen !== 'nothing yet') break;
  }
  throw outcome.error;
};

const lookSafely = async <T>(look: () => Promise<Look<T>>): Promise<Look<T> | 'unreadable'> => {
  try {
    return await withDeadline(look(), LOOK_MS, 'a look at the stream');
  } catch {
    return 'unreadable';
  }
};
