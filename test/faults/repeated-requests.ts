import { setTimeout as pause } from 'node:timers/promises';
import { UnexpectedReply } from '#test/harness/api-client.js';
import { type Gate } from './kill9-load.js';

/** The key of a request is taken for a minute after a kill (docs/reference/rest-api.md#idempotency-key). */
const REPEAT_MS = 500;

/** When requests of the rounds go out. */
export interface RoundsGoOn {
  readonly gate: Gate;
  /** Whether an unanswered request is still repeated. */
  readonly goesOn: () => boolean;
}

/**
 * Asks again until there is an answer, because a killed process gives none. Resolves with undefined once the rounds are
 * over. Rejects with an answer that no kill explains.
 */
export const untilAnswered = async <T>(
  { gate, goesOn }: RoundsGoOn,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  while (goesOn()) {
    await gate.pass();
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      const { status = 0 } = error instanceof UnexpectedReply ? error.reply : {};
      if (status >= 400 && status < 500) throw error;
    }
    await pause(REPEAT_MS);
  }
  return undefined;
};
