import { describe, expect, it } from '@jest/globals';
import { BoundedTurns, type FullTurns, type TurnLimits } from './bounded-turns.js';

class Refused extends Error {
  constructor(readonly why: FullTurns) {
    super(why.scope);
  }
}

/** Works that end on request. `ann/a` is a work of user ann in workspace a, `/a` one that is counted for no user. */
const world = (limits: Partial<TurnLimits> = {}) => {
  const turns = new BoundedTurns({ atOnce: 4, waiting: 2, waitingInAll: 5, ...limits }, (why) => new Refused(why));
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (who: string, bytes = 0): Promise<unknown> => {
    const [userId = '', workspaceId = ''] = who.split('/');
    return turns.run(userId === '' ? { workspaceId } : { workspaceId, userId }, bytes, () => {
      started.push(who);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  };
  const endFirst = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const refusalOf = async (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => undefined,
      (error: unknown) => (error as Refused).why,
    );
  return { ask, started, endFirst, refusalOf };
};

describe('BoundedTurns', () => {
  it('gives neither a workspace nor a user more than half of the slots', () => {
    const { ask, started } = world({ waiting: 9, waitingInAll: 99 });
    for (const who of ['ann/a', 'bob/a', 'cem/a', 'eve/e', 'eve/f', 'eve/g']) void ask(who);
    expect(started).toEqual(['ann/a', 'bob/a', 'eve/e', 'eve/f']);
  });

  it('keeps slots for others while a user of many workspaces waits', async () => {
    const { ask, started, endFirst } = world({ waiting: 9, waitingInAll: 99 });
    for (let i = 0; i < 6; i++) void ask(`eve/w${i}`);
    void ask('ann/a');
    expect(started).toEqual(['eve/w0', 'eve/w1', 'ann/a']);
    await endFirst();
    expect(started.at(-1)).toBe('eve/w2');
    void ask('bob/b');
    expect(started.at(-1)).toBe('bob/b');
  });

  it.each([
    ['workspace', ['ann/a', 'bob/a', 'cem/a', 'dan/a'], 'eve/a', 2],
    ['user', ['eve/a', 'eve/b', 'eve/c', 'eve/d'], 'eve/e', 2],
  ])('refuses what a full queue of one %s would hold, and nobody else', async (scope, first, next, limit) => {
    const { ask, refusalOf, started } = world();
    for (const who of first) void ask(who);
    expect(await refusalOf(ask(next))).toEqual({ scope, limit, actual: limit + 1, unit: 'works' });
    void ask('zoe/z');
    expect(started).toContain('zoe/z');
  });

  it('bounds the queue in all, counts works without a user, and has room again', async () => {
    const { ask, refusalOf, endFirst, started } = world({ atOnce: 2, waiting: 3 });
    for (const who of ['/a', '/b', '/c', '/d', '/e', '/a', '/b']) void ask(who);
    expect(await refusalOf(ask('/f'))).toMatchObject({ scope: 'process', limit: 5 });
    await endFirst();
    void ask('/f');
    for (let i = 0; i < 7; i++) await endFirst();
    expect(started.sort()).toEqual(['/a', '/a', '/b', '/b', '/c', '/d', '/e', '/f']);
  });

  it('bounds the bytes that wait', async () => {
    const { ask, refusalOf } = world({ atOnce: 2, waiting: 9, waitingInAll: 99, waitingBytes: 10 });
    void ask('ann/a');
    void ask('ann/a', 20);
    expect(await refusalOf(ask('ann/a', 1))).toMatchObject({ scope: 'user', unit: 'bytes', actual: 21, limit: 10 });
  });
});
