import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MB } from '../protocol/protocol.js';
import { RunsMemory } from './runs-memory.js';
import { SandboxGone } from '../sandbox.js';
import { plainRecord } from '../testing/fuzzed-records.js';
import { WrittenChild } from '../testing/written-child.js';
import { ProcessSandbox } from './process-sandbox.js';

const SPEC = { sourceId: 'dc_1', workspaceId: 'o_1', bundleFile: '', props: {}, db: {}, concurrency: 2 };

describe('a process that is drained', () => {
  let now: number;
  let memory: RunsMemory;
  let child: WrittenChild;
  let sandbox: ProcessSandbox;
  let index: number;
  /** Result of each ended run, by its number. */
  let ends: Record<number, string>;

  beforeEach(() => {
    now = 1_000;
    index = 1;
    ends = {};
    memory = new RunsMemory({ bytes: 64 * MB });
    child = new WrittenChild();
    sandbox = new ProcessSandbox(SPEC, child, { memoryMb: 128 }, { now: () => now }, memory);
    child.bind(sandbox);
  });
  /** Ends the watchdog of the process too. */
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

  it('gives back unsent runs at once, and sent runs when the child answers that they have not started', async () => {
    await begin(130);
    say(['s', 1, now]);
    sandbox.drain();
    sandbox.drain();
    await turn();
    expect([drops(), ends]).toEqual([1, { 129: 'gone', 130: 'gone' }]);
    // This run started before the child had read the drop, so it continues.
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

  it('still runs hooks, and gives none back', async () => {
    await begin(2);
    const hook = sandbox.hook('activate', 1_000);
    await turn();
    sandbox.drain();
    say(['g'], ['s', 3, now], ['d', 3, now, null]);
    expect(await hook).toMatchObject({ status: 'ok' });
    expect([child.breaches, ends]).toEqual([0, { 1: 'gone', 2: 'gone' }]);
  });

  it('is not asked for runs when all sent runs have started', async () => {
    await begin(2);
    say(['s', 1, now], ['s', 2, now]);
    sandbox.drain();
    expect(drops()).toBe(0);
    say(['g']);
    expect([child.alive, child.breaches]).toEqual([false, 1]);
  });

  it('may answer in pieces after all sent runs have ended', async () => {
    await begin(1);
    sandbox.drain();
    say(['s', 1, now], ['d', 1, now, null]);
    const answer = plainRecord(index, ['g']);
    child.say(answer.subarray(0, 5));
    child.say(answer.subarray(5));
    expect([child.alive, child.breaches]).toEqual([true, 0]);
    // Control: a second answer is a breach.
    child.say(plainRecord(index + 1, ['g']));
    expect([child.alive, child.breaches]).toEqual([false, 1]);
  });

  it.each([
    ['gives back runs without being asked', false, [['g']]],
    ['gives back runs twice', true, [['g'], ['g']]],
    ['starts a run that it gave back', true, [['g'], ['s', 2, 1_000]]],
    ['gives back runs with a malformed message', true, [['g', 2]]],
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
      // This exceeds the interval of the watchdog.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await turn();
    // Each run keeps its time limit, so only the missing answer ends the process.
    expect(child.alive).toBe(!asked);
    expect(ends).toMatchObject(asked ? { 1: 'ok', 10: 'gone' } : { 1: 'ok', 9: 'ok' });
    expect(Object.values(ends).filter((end) => end === 'killed')).toHaveLength(asked ? 1 : 0);
  });
});
