import { describe, expect, it } from '@jest/globals';
import { DELAYED_LIMITS, type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { type SandboxSpec } from '#libs/sandbox/index.js';
import { FakeSandbox, ok } from './testing/fake-sandbox.js';
import { sourceWorld, until } from './testing/source-world.js';
import { WaitingTold } from './waiting-told.js';

const NONE: WaitingEvents = { count: 0, bytes: 0 };
const SOME: WaitingEvents = { count: 7, bytes: 70 };

const world = () => {
  const state = { now: 1_000, waiting: NONE, reads: 0 };
  const delayed = {
    usage: async () => {
      state.reads++;
      return state.waiting;
    },
  };
  const told = new WaitingTold({ sourceId: 'dc_1', delayed, clock: { now: () => state.now } });
  const sandbox = (): FakeSandbox => new FakeSandbox({} as SandboxSpec, {});
  return { state, told, sandbox };
};

describe('the number of delayed events', () => {
  it('reaches each process once while none wait', async () => {
    const { state, told, sandbox } = world();
    const [first, second] = [sandbox(), sandbox()];
    await told.tell(first);
    state.now += 10_000;
    expect(told.tell(first)).toBeUndefined();
    await told.tell(second);
    expect([first.toldWaiting, second.toldWaiting]).toEqual([[NONE], [NONE]]);
    expect(state.reads).toBe(2);
  });

  it('reaches it again while some wait, at most once in 250 ms', async () => {
    const { state, told, sandbox } = world();
    const process = sandbox();
    state.waiting = SOME;
    await told.tell(process);
    state.now += 249;
    expect(told.tell(process)).toBeUndefined();
    state.now += 1;
    state.waiting = NONE;
    await told.tell(process);
    expect(process.toldWaiting).toEqual([SOME, NONE]);
    state.now += 10_000;
    expect(told.tell(process)).toBeUndefined();
  });

  it('reaches it each time while more than half of the limit waits', async () => {
    const { state, told, sandbox } = world();
    const process = sandbox();
    const high = { count: DELAYED_LIMITS.events / 2 + 1, bytes: 1 };
    state.waiting = high;
    await told.tell(process);
    state.waiting = SOME;
    await told.tell(process);
    expect(process.toldWaiting).toEqual([high, SOME]);
    expect(told.tell(process)).toBeUndefined();
  });

  it('reaches it again once a commit has some', async () => {
    const { state, told, sandbox } = world();
    const process = sandbox();
    await told.tell(process);
    state.waiting = SOME;
    expect(await told.usage('dc_1')).toEqual(SOME);
    state.now += 250;
    await told.tell(process);
    expect(process.toldWaiting).toEqual([NONE, SOME]);
  });

  it('reaches it before the runs and hooks that it concerns', async () => {
    const t = sourceWorld({ auto: () => ok() });
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    expect(t.sandboxes[0]?.toldWaiting).toEqual([NONE]);
  });
});
