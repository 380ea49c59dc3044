import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MB } from '../protocol/protocol.js';
import { RunsMemory } from './runs-memory.js';
import { SandboxGone } from '../sandbox.js';
import { plainRecord } from '../testing/fuzzed-records.js';
import { WrittenChild } from '../testing/written-child.js';
import { ProcessSandbox } from './warm-process.js';

const SPEC = { sourceId: 'dc_1', workspaceId: 'o_1', bundleFile: '', props: {}, db: {}, concurrency: 2 };

describe('a process that is drained', () => {
  let now: number;
  let memory: RunsMemory;
  let child: WrittenChild;
  let sandbox: ProcessSandbox;
  let index: number;
  /** How each run ended, by its number; absent while it has not. */
  let ends: Record<number, string>;

  beforeEach(() => {
    now = 1_000;
    index = 1;
    ends = {};
    memory = new RunsMemory({ bytes: 64 * MB });
    child = new WrittenChild();
    sandbox = new ProcessSandbox(SPEC, child, 128, { now: () => now }, memory);
    child.bind(sandbox);
  });
  /** Its watchdog ends with it. */
  afterEach(() => child.kill());

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const say = (...messages: (readonly unknown[])[]): void => {
    for (const message of messages) child.say(plainRecord(index++, message));
  };
  const begin = async (count: number, timeoutMs = 600_000): Promise<void> => {
    for (let n = 1; n <= count; n++) {
      sandbox.run({ invocationId: `inv_${n}`, event: '{}', timeoutMs }).then(
        (outcome) => {
          outcome.held?.release();
          ends[n] = outcome.status;
        },
        (error: unknown) => (ends[n] = error instanceof SandboxGone ? 'gone' : String(error)),
      );
    }
    await turn();
  };
  const drops = (): number => child.told.filter(({ t }) => t === 'drop').length;

  it('gives back at once what it was not told of, and the rest when it says that nothing of that has started', async () => {
    await begin(130);
    say(['s', 1, now]);
    sandbox.drain();
    sandbox.drain();
    await turn();
    expect([drops(), ends]).toEqual([1, { 129: 'gone', 130: 'gone' }]);
    // Started before the child has read that it should not: it goes on.
    say(['s', 2, now], ['g']);
    await turn();
    expect(Object.values(ends)).toEqual(Array(128).fill('gone'));
    expect([ends[1], ends[2], child.alive]).toEqual([undefined, undefined, true]);
    say(['d', 1, now, null], ['d', 2, now, null]);
    await turn();
    expect([ends[1], ends[2], child.breaches]).toEqual(['ok', 'ok', 0]);
    expect(memory.stats().bytes).toBe(0);
    await expect(sandbox.run({ invocationId: 'inv', event: '{}', timeoutMs: 1 })).rejects.toBeInstanceOf(SandboxGone);
    expect(child.told.map(({ t }) => t)).toEqual(['run', 'run', 'drop']);
  });

  it('runs hooks still, and gives none back', async () => {
    await begin(2);
    const hook = sandbox.hook('activate', 1_000);
    await turn();
    sandbox.drain();
    say(['g'], ['s', 3, now], ['d', 3, now, null]);
    expect(await hook).toMatchObject({ status: 'ok' });
    expect([child.breaches, ends]).toEqual([0, { 1: 'gone', 2: 'gone' }]);
  });

  it('is asked for nothing when all that it was told of has started', async () => {
    await begin(2);
    say(['s', 1, now], ['s', 2, now]);
    sandbox.drain();
    expect(drops()).toBe(0);
    say(['g']);
    expect([child.alive, child.breaches]).toEqual([false, 1]);
  });

  it('may answer in pieces after all that it was told of has ended', async () => {
    await begin(1);
    sandbox.drain();
    say(['s', 1, now], ['d', 1, now, null]);
    const answer = plainRecord(index, ['g']);
    child.say(answer.subarray(0, 5));
    child.say(answer.subarray(5));
    expect([child.alive, child.breaches]).toEqual([true, 0]);
    // Control: no more than that.
    child.say(answer.subarray(0, 5));
    expect([child.alive, child.breaches]).toEqual([false, 1]);
  });

  it.each([
    ['gives back what it was not asked for', false, [['g']]],
    ['gives back twice', true, [['g'], ['g']]],
    ['starts what it gave back', true, [['g'], ['s', 2, 1_000]]],
    ['says more than that it gives back', true, [['g', 2]]],
  ])('is ended when it %s', async (_, asked, messages) => {
    await begin(2);
    say(['s', 1, now]);
    if (asked) sandbox.drain();
    say(...messages);
    await turn();
    expect([child.alive, child.breaches, ends]).toEqual([false, 1, { 1: 'killed', 2: 'gone' }]);
  });

  it.each([true, false])('is ended when it starts one run after the other and owes an answer: %s', async (asked) => {
    await begin(10, 600);
    say(['s', 1, now]);
    if (asked) sandbox.drain();
    for (let n = 1; child.alive && n < 10; n++) {
      now += 500;
      say(['d', n, now, null], ['s', n + 1, now]);
      // Longer than its watchdog sleeps.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await turn();
    // Each run keeps its limit: what ends it is the answer.
    expect(child.alive).toBe(!asked);
    expect(ends).toMatchObject(asked ? { 1: 'ok', 10: 'gone' } : { 1: 'ok', 9: 'ok' });
    expect(Object.values(ends).filter((end) => end === 'killed')).toHaveLength(asked ? 1 : 0);
  });
});
