/** An operation had no result in time. */
export class DeadlineExceeded extends Error {
  override readonly name: string = 'DeadlineExceeded';

  constructor(
    readonly what: string,
    readonly ms: number,
  ) {
    super(`${what}: no answer within ${ms} ms`);
  }
}

/**
 * Settles as `work` does, but rejects with `late` when that takes longer than `ms` milliseconds. The work continues; a
 * later failure of it is ignored.
 *
 * @param late name of the operation, for a DeadlineExceeded; or a function that makes another error.
 */
export const withDeadline = async <T>(work: Promise<T>, ms: number, late: string | (() => Error)): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(typeof late === 'string' ? new DeadlineExceeded(late, ms) : late()), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
};

/** Waits for `work`, at most `ms` milliseconds. Resolves to false if it has not ended. Rejects if it rejects in time. */
export const endsWithin = async (work: Promise<unknown>, ms: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), deadline]);
  } finally {
    clearTimeout(timer);
  }
};
