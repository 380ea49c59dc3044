import { type Invocation } from './invocations.js';
import { type StreamLog } from './stream-log.js';

/** The wait of this process for the answer to one invocation. */
export interface Expectation<A> {
  /** Resolves with undefined when time is over or after `cancel`. Never rejects. Called before the publication. */
  expect(invocationId: string): Promise<A | undefined>;
  /** Ends the wait. Idempotent. */
  cancel(invocationId: string): void;
}

/**
 * Publishes an invocation whose answer the caller waits for. Resolves when the invocation is durable; `answer` follows,
 * or undefined when time is over. Resolves with undefined when the source was deleted. Rejects when the log cannot
 * write. In both cases nothing is expected any more.
 */
export const ask = async <A>(
  log: Pick<StreamLog, 'publish'>,
  invocation: Invocation,
  expectation: Expectation<A>,
): Promise<{ readonly answer: Promise<A | undefined> } | undefined> => {
  const { id } = invocation.headers;
  // The answer may arrive before `publish` resolves.
  const answer = expectation.expect(id);
  try {
    const [offset] = await log.publish([invocation]);
    if (!isDropped(offset)) return { answer };
  } catch (error) {
    expectation.cancel(id);
    throw error;
  }
  expectation.cancel(id);
  return undefined;
};

/** True for the offset of a record whose topic was deleted, and with it the source. */
export const isDropped = (offset: number | null | undefined): offset is null | undefined =>
  offset === null || offset === undefined;
