import { type Invocation } from './invocations.js';
import { type StreamLog } from './stream-log.js';

/** Waits in this process for the answer to one invocation. */
export interface Expectation<A> {
  /** Call before the publication. Resolves with undefined after a time limit or `cancel`. Never rejects. */
  expect(invocationId: string): Promise<A | undefined>;
  /** Ends the wait. Idempotent. */
  cancel(invocationId: string): void;
}

/**
 * Publishes an invocation whose answer the caller waits for. Resolves when the invocation is durable. `answer` resolves
 * later, with undefined after a time limit. Resolves with undefined when the source was deleted, and rejects when the
 * log cannot write. In both cases the wait has ended.
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

/** True for the offset of a record whose topic was deleted with its source. */
export const isDropped = (offset: number | null | undefined): offset is null | undefined =>
  offset === null || offset === undefined;
