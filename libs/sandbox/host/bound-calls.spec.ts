import { afterEach, describe, expect, it } from '@jest/globals';
import { userError } from './process-end.js';
import { ProcessSandbox } from './process-sandbox.js';
import { RunsMemory } from './runs-memory.js';
import { type BoundProp, type RunOutcome } from '../sandbox.js';
import { plainRecord } from '../testing/fuzzed-records.js';
import { WrittenChild } from '../testing/written-child.js';

const STORE: BoundProp = { kind: 'store', id: 'ds_abcdef' };

describe('calls of one process', () => {
  let child: WrittenChild;
  afterEach(() => child.kill());

  const start = () => {
    child = new WrittenChild();
    const spec = { sourceId: 'call_1', workspaceId: 'o_1', bundleFile: '', props: {}, db: {}, concurrency: 1 };
    const memory = new RunsMemory({ bytes: 64 * 1024 * 1024 });
    const access = { call: () => Promise.resolve('1') };
    const sandbox = new ProcessSandbox(spec, child, { memoryMb: 128 }, { now: () => 1_000 }, memory, access);
    child.bind(sandbox);
    let index = 1;
    const say = (...message: unknown[]): void => child.say(plainRecord(index++, message));
    const ask = (props: Readonly<Record<string, BoundProp>> = {}): Promise<RunOutcome> =>
      sandbox.ask({ call: { kind: 'additional_props' }, props }, 60_000);
    return { sandbox, say, ask };
  };

  it('may use the data stores of their own props alone', async () => {
    const { say, ask } = start();
    const first = ask({ store: STORE });
    say('s', 1, 1_000);
    say('q', 1, 1, 'get', STORE.id, 'k', null);
    say('d', 1, 1_000, null);
    expect((await first).status).toBe('ok');
    const second = ask();
    say('s', 2, 1_000);
    expect(child.breaches).toBe(0);
    say('q', 2, 2, 'get', STORE.id, 'k', null);
    expect([(await second).status, child.breaches]).toEqual(['killed', 1]);
  });

  it.each([
    ['a call that left nothing', ['d', 1, 1_000, null], false],
    ['a call that threw', ['d', 1, 1_000, userError('TypeError', 'no')], false],
    ['a call that left something', ['d', 1, 1_000, null, 1], true],
    ['a call that exceeded a limit', ['d', 1, 1_000, userError('FunctionPayloadLimitExceeded', 'big')], true],
  ])('after %s', async (_what, end, isSpent) => {
    const { sandbox, say, ask } = start();
    const call = ask();
    say('s', 1, 1_000);
    say(...end);
    await call;
    expect([sandbox.alive(), sandbox.isSpent()]).toEqual([true, isSpent]);
  });

  it('are no more once work shows after one', async () => {
    const { sandbox, say, ask } = start();
    const call = ask();
    say('s', 1, 1_000);
    say('d', 1, 1_000, null);
    await call;
    expect(sandbox.isSpent()).toBe(false);
    say('p', 1, 'log', 1_000);
    expect([sandbox.alive(), sandbox.isSpent()]).toEqual([true, true]);
  });

  it.each([[2], ['1'], [null], [1, 1]])(
    'end a child that says %j in place of whether it is spent',
    async (...spent) => {
      const { say, ask } = start();
      const call = ask();
      say('s', 1, 1_000);
      say('d', 1, 1_000, null, ...spent);
      expect([(await call).status, child.breaches]).toEqual(['killed', 1]);
    },
  );
});
