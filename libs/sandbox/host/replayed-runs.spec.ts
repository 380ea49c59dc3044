import { afterEach, describe, expect, it } from '@jest/globals';
import { MB } from '../protocol/protocol.js';
import { encodeRecord } from '#libs/framing/records.js';
import { type RunOutcome } from '../sandbox.js';
import { WrittenChild } from '../testing/written-child.js';
import { ProcessSandbox } from './process-sandbox.js';
import { RunsMemory } from './runs-memory.js';

const started: WrittenChild[] = [];
afterEach(() => started.splice(0).forEach((child) => child.kill()));

/** A process with runs 1, 2 and 3. Run 1 has ended, run 2 has started, and run 3 was sent. */
const world = async () => {
  const child = new WrittenChild();
  const spec = { sourceId: 'dc_1', workspaceId: 'o_1', bundleFile: '', props: {}, db: {}, concurrency: 3 };
  const sandbox = new ProcessSandbox(
    spec,
    child,
    { memoryMb: 128 },
    { now: () => 1_000 },
    new RunsMemory({ bytes: 64 * MB }),
  );
  child.bind(sandbox);
  started.push(child);
  const outcomes = ['a', 'b', 'c'].map((id) => sandbox.run({ invocationId: id, event: '{}', timeoutMs: 60_000 }));
  const settled = Promise.allSettled(outcomes);
  await new Promise((resolve) => setImmediate(resolve));
  let index = 1;
  const say = (message: readonly unknown[], raw = ''): void => child.say(encodeRecord(index++, message, [raw]));
  say(['s', 1, 1_000]);
  say(['e', 1, '', null, null, null], '"of a"');
  say(['d', 1, 1_000, null]);
  say(['s', 2, 1_000]);
  say(['e', 2, '', null, null, null], '"of b"');
  return { child, say, settled, first: await outcomes[0] };
};

const emitsOf = (outcome: RunOutcome | undefined): readonly string[] =>
  outcome?.emits.map(({ payload }) => payload) ?? [];

const REPLAYS: readonly (readonly [string, readonly unknown[], string])[] = [
  ['an emit of a run that has ended', ['e', 1, '', null, null, null], '"late"'],
  ['a log line of a run that has ended', ['l', 1, 'console.log', 1_000], 'late'],
  ['a db change of a run that has ended', ['b', 1, 'key', 0], '1'],
  ['a reply of a run that has ended', ['r', 1, 200, {}, 0, 0], 'late'],
  ['a second end of one run', ['d', 1, 1_000, null], ''],
  ['a second start of a run that has ended', ['s', 1, 1_000], ''],
  ['a second start of a run in progress', ['s', 2, 1_000], ''],
  ['an emit of a run that has not started', ['e', 3, '', null, null, null], '"early"'],
  ['the end of a run that has not started', ['d', 3, 1_000, null], ''],
  ['an emit of a run that was never sent', ['e', 4, '', null, null, null], '"invented"'],
  ['the end of a run with a huge number', ['d', Number.MAX_SAFE_INTEGER, 1_000, null], ''],
  ['the end of run 0', ['d', 0, 1_000, null], ''],
  ['a number that is a text', ['e', '2', '', null, null, null], '"text"'],
  ['a number that is a list', ['e', [2], '', null, null, null], '"list"'],
  ['a negative number', ['e', -2, '', null, null, null], '"negative"'],
  ['a number with a fraction', ['e', 2.5, '', null, null, null], '"fraction"'],
  ['the name of an inherited property', ['e', '__proto__', '', null, null, null], '"proto"'],
  ['the answer of a call, for a run', ['v', 2], '{}'],
  ['runs given back that were not asked for', ['g'], ''],
];

describe('a process that replays, mixes up or invents the number of a run', () => {
  it.each(REPLAYS)('is ended: %s', async (_title, message, raw) => {
    const { child, say, settled, first } = await world();
    say(message, raw);
    expect([child.alive, child.breaches]).toEqual([false, 1]);
    const [a, b, c] = await settled;
    // Nothing is added to the run that has ended, and nothing is attributed to another one.
    expect(a).toEqual({ status: 'fulfilled', value: first });
    expect(emitsOf(first)).toEqual(['"of a"']);
    expect(b).toMatchObject({
      status: 'fulfilled',
      value: { status: 'killed', emits: [{ payload: '"of b"' }], logs: [], dbChanges: {} },
    });
    expect(b).toMatchObject({
      value: {
        error: { code: 'ProcessExited', message: expect.stringMatching(/the process was ended because of .+/) },
      },
    });
    // It had not started, so it is run again elsewhere.
    expect(c).toMatchObject({ status: 'rejected', reason: { name: 'SandboxGone' } });
  });

  it('is ended when it sends a record a second time', async () => {
    const { child, settled } = await world();
    child.say(encodeRecord(5, ['e', 2, '', null, null, null], ['"of b"']));
    expect([child.alive, child.breaches]).toEqual([false, 1]);
    expect((await settled)[1]).toMatchObject({ value: { status: 'killed', emits: [{ payload: '"of b"' }] } });
  });

  it('(control) goes on with the same messages for the run in progress', async () => {
    const { child, say, settled } = await world();
    say(['e', 2, '', null, null, null], '"more"');
    say(['d', 2, 1_000, null]);
    say(['s', 3, 1_000]);
    say(['d', 3, 1_000, null]);
    expect([child.alive, child.breaches]).toEqual([true, 0]);
    const [, b, c] = await settled;
    expect(b).toMatchObject({ value: { status: 'ok', emits: [{ payload: '"of b"' }, { payload: '"more"' }] } });
    expect(c).toMatchObject({ value: { status: 'ok', emits: [] } });
  });
});
