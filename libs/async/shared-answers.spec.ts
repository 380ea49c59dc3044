import { describe, expect, it } from '@jest/globals';
import { SharedAnswers } from './shared-answers.js';

const world = (find: (key: string) => Promise<string>, most = 3) => {
  const asked: string[] = [];
  const time = { now: 0 };
  const answers = new SharedAnswers({
    find: (key) => {
      asked.push(key);
      return find(key);
    },
    keptMs: 1_000,
    most,
    now: () => time.now,
  });
  return { asked, time, answers };
};

describe('shared answers', () => {
  it('are found once for all who ask at the same time, and within a second', async () => {
    const { asked, time, answers } = world(async (key) => `${key}${asked.length}`);
    expect(await Promise.all([answers.of('a'), answers.of('a'), answers.of('b')])).toEqual(['a1', 'a1', 'b2']);
    time.now = 999;
    expect(await answers.of('a')).toBe('a1');
    time.now = 1_000;
    expect(await answers.of('a')).toBe('a3');
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  it('that take long are given for longer, and one that is not found yet to all', async () => {
    const ends: ((answer: string) => void)[] = [];
    const { asked, time, answers } = world(() => new Promise((resolve) => ends.push(resolve)));
    const first = answers.of('a');
    time.now = 2_000;
    const second = answers.of('a');
    ends[0]?.('slow');
    expect([await first, await second]).toEqual(['slow', 'slow']);
    time.now = 19_999;
    expect(await answers.of('a')).toBe('slow');
    time.now = 20_000;
    void answers.of('a');
    expect(asked).toEqual(['a', 'a']);
  });

  it('are not failures, which only those get who wait for them', async () => {
    let fails = true;
    const { answers } = world(() => (fails ? Promise.reject(new Error('away')) : Promise.resolve('there')));
    const both = await Promise.allSettled([answers.of('a'), answers.of('a')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await answers.of('a')).toBe('there');
  });

  it('are kept for a number of keys, and the oldest are forgotten', async () => {
    const { asked, answers } = world(async (key) => key, 2);
    for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await answers.of(key);
    expect(asked).toEqual(['a', 'b', 'c', 'a']);
  });
});
