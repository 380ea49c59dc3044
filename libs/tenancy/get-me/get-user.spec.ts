import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { GetUser, GetUserHandler } from './get-user.query.js';

describe('the user of a key', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const ada = { id: 'u_1', username: 'ada' };
  /** Has the user at the read of this number. */
  const appearing = (at: number) => {
    let reads = 0;
    const get = async (): Promise<object | undefined> => (++reads < at ? undefined : ada);
    return new GetUserHandler({ get } as unknown as ReadModelStore).execute(new GetUser('u_1'));
  };

  it('is waited for until the read model has it', async () => {
    const found = appearing(5);
    await jest.advanceTimersByTimeAsync(300);
    expect(await found).toEqual(ada);
  });

  it('is 503 when the read model does not get it, and never "not found"', async () => {
    const refused = expect(appearing(Infinity)).rejects.toMatchObject({ code: 'request.not_caught_up' });
    await jest.advanceTimersByTimeAsync(2_500);
    await refused;
  });
});
