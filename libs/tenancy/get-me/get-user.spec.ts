import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { GetUser, GetUserHandler } from './get-user.query.js';

describe('the user of a key', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const ada = { id: 'u_1', username: 'ada' };
  const key = { id: 'key_1', name: 'ci' };
  /** Has the user and the key at the reads of these numbers. */
  const appearing = (userAt: number, keyAt: number) => {
    const reads: Record<string, number> = {};
    const get = async (_: unknown, id: string): Promise<object | undefined> => {
      const count = (reads[id] = (reads[id] ?? 0) + 1);
      const [at, doc] = id === ada.id ? [userAt, ada] : [keyAt, key];
      return count < at ? undefined : doc;
    };
    return new GetUserHandler({ get } as unknown as ReadModelStore).execute(new GetUser(ada.id, key.id));
  };

  it.each([
    [5, 1],
    [1, 5],
  ])('is waited for until the read models have both', async (userAt, keyAt) => {
    const found = appearing(userAt, keyAt);
    await jest.advanceTimersByTimeAsync(300);
    expect(await found).toEqual({ user: ada, key });
  });

  it.each([
    [Infinity, 1, 'the read model of users does not have u_1 yet'],
    [1, Infinity, 'the read model of keys does not have key_1 yet'],
  ])('is 503 when a read model does not get it, and never "not found"', async (userAt, keyAt, message) => {
    const refused = expect(appearing(userAt, keyAt)).rejects.toMatchObject({ code: 'request.not_caught_up', message });
    await jest.advanceTimersByTimeAsync(2_500);
    await refused;
  });
});
