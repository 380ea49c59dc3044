import { describe, expect, it } from '@jest/globals';
import { ask } from './ask.js';
import { manualInvocation } from './invocations.js';
import { type StreamLog } from './stream-log.js';
import { perEmitterTopics } from './topics.js';

const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });
const call = { sourceId: 'dc_1', workspaceId: 'o_1', now: 1_700_000_000_500, respond: 'here', event: '{}' };

const world = (publish: StreamLog['publish']) => {
  const steps: string[] = [];
  let resolve: (answer: string | undefined) => void = () => undefined;
  const invocation = manualInvocation(topics, call);
  const nameOf = (id: string): string => (id === invocation.headers.id ? 'its id' : id);
  return {
    steps,
    answer: (text: string | undefined) => resolve(text),
    asked: () =>
      ask<string>(
        {
          publish: (records) => {
            steps.push('publish');
            expect(records).toEqual([invocation]);
            return publish(records);
          },
        },
        invocation,
        {
          expect: (id) => {
            steps.push(`expect ${nameOf(id)}`);
            return new Promise((done) => (resolve = done));
          },
          cancel: (id) => {
            steps.push(`cancel ${nameOf(id)}`);
            resolve(undefined);
          },
        },
      ),
  };
};

describe('ask', () => {
  it('expects the answer, then publishes, and resolves before the answer is there', async () => {
    const { asked, answer, steps } = world(() => Promise.resolve([0]));
    const question = await asked();
    expect(steps).toEqual(['expect its id', 'publish']);
    answer('yes');
    expect(await question?.answer).toBe('yes');
    expect(steps).toHaveLength(2);
  });

  it('returns an answer that arrived before publish resolved', async () => {
    let published: (offsets: number[]) => void = () => undefined;
    const { asked, answer } = world(() => new Promise((resolve) => (published = resolve)));
    const asking = asked();
    answer('at once');
    await new Promise(setImmediate);
    published([0]);
    expect(await (await asking)?.answer).toBe('at once');
  });

  it('expects nothing any more when the log cannot write', async () => {
    const { asked, steps } = world(() => Promise.reject(new Error('disk full')));
    await expect(asked()).rejects.toThrow('disk full');
    expect(steps).toEqual(['expect its id', 'publish', 'cancel its id']);
  });

  it('expects nothing any more when the source was deleted', async () => {
    const { asked, steps } = world(() => Promise.resolve([null]));
    expect(await asked()).toBeUndefined();
    expect(steps).toEqual(['expect its id', 'publish', 'cancel its id']);
  });

  it('answers undefined when time is over', async () => {
    const { asked, answer } = world(() => Promise.resolve([0]));
    const question = await asked();
    answer(undefined);
    expect(question).toBeDefined();
    expect(await question?.answer).toBeUndefined();
  });

  it('answers undefined when time is over before publish resolves, and still says that the invocation is durable', async () => {
    let published: (offsets: number[]) => void = () => undefined;
    const { asked, answer } = world(() => new Promise((resolve) => (published = resolve)));
    const asking = asked();
    answer(undefined);
    published([0]);
    const question = await asking;
    expect(question).toBeDefined();
    expect(await question?.answer).toBeUndefined();
  });
});
