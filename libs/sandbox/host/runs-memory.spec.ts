import { describe, expect, it } from '@jest/globals';
import { RunsMemory, type MemoryAccount } from './runs-memory.js';

interface Process {
  readonly account: MemoryAccount;
  paused: boolean;
  resumed: number;
  ended: number;
}

const budget = (bytes: number) => {
  const calls: (() => void)[] = [];
  const memory = new RunsMemory({
    bytes,
    later: (_ms, call) => {
      calls.push(call);
      return () => void calls.splice(calls.indexOf(call), 1);
    },
  });
  const process = (): Process => {
    const made: { -readonly [K in keyof Process]: Process[K] } = {
      account: memory.open({
        pause: () => (made.paused = true),
        resume: () => {
          made.paused = false;
          made.resumed++;
        },
        endLargest: () => made.ended++,
      }),
      paused: false,
      resumed: 0,
      ended: 0,
    };
    return made;
  };
  const say = ({ account }: Process, more: number): void => {
    account.hold(more);
    account.applyBackPressure();
  };
  return { memory, process, say, passTimeIsOver: () => calls.splice(0).forEach((call) => call()) };
};

describe('the memory budget of all runs', () => {
  it('keeps no process waiting below half of the budget', () => {
    const { process, say, memory } = budget(1_000);
    const [a, b] = [process(), process()];
    say(a, 400);
    say(b, 100);
    expect([a.paused, b.paused, a.account.maySend()]).toEqual([false, false, true]);
    expect(memory.stats()).toEqual({ bytes: 500, most: 500, waiting: 0 });
  });

  it('above half, lets one process continue, and pauses the others above their share but not those below', () => {
    const { process, say } = budget(1_000);
    const [holder, greedy, modest] = [process(), process(), process()];
    say(modest, 10);
    say(greedy, 300);
    say(holder, 300);
    say(greedy, 1);
    say(modest, 10);
    expect([holder.paused, greedy.paused, modest.paused]).toEqual([false, true, false]);
    expect([holder.account.maySend(), greedy.account.maySend(), modest.account.maySend()]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('never lets all processes wait, but reads each to its end in turn, whatever it holds', () => {
    const { process, say, memory } = budget(1_000);
    const all = Array.from({ length: 10 }, process);
    for (const each of all) say(each, 100);
    const order: number[] = [];
    while (order.length < all.length) {
      const reading = all.findIndex((each, n) => !each.paused && !order.includes(n));
      expect(reading).toBeGreaterThanOrEqual(0);
      const { account } = all[reading] as Process;
      // The run reaches its payload limit, ends, and is committed.
      say(all[reading] as Process, 500);
      account.ended(account.open)();
      order.push(reading);
    }
    expect(memory.stats()).toMatchObject({ bytes: 0, waiting: 0 });
    expect(all.some(({ paused }) => paused)).toBe(false);
  });

  it('pauses a process whose outcomes wait for their commit, even when it is alone', () => {
    const { process, say } = budget(1_000);
    const one = process();
    say(one, 200);
    const committed = one.account.ended(200);
    one.account.applyBackPressure();
    expect([one.paused, one.account.maySend()]).toEqual([true, false]);
    committed();
    committed();
    expect([one.paused, one.account.maySend(), one.account.held]).toEqual([false, true, 0]);
  });

  it('tells the holder of the pass when it may take more again', () => {
    const { process, say } = budget(1_000);
    const one = process();
    say(one, 600);
    expect([one.paused, one.account.maySend(), one.resumed]).toEqual([false, false, 0]);
    one.account.ended(600)();
    expect([one.resumed, one.account.maySend()]).toEqual([1, true]);
  });

  it('ends the largest run of the holder when others wait too long, and only then', () => {
    const { process, say, passTimeIsOver } = budget(1_000);
    const [holder, other] = [process(), process()];
    say(holder, 600);
    passTimeIsOver();
    expect(holder.ended).toBe(0);
    say(other, 300);
    expect(other.paused).toBe(true);
    passTimeIsOver();
    expect([holder.ended, other.ended]).toEqual([1, 0]);
  });

  it("passes on the pass when its holder has ended, and counts the holder's outcomes until they are committed", () => {
    const { process, say, memory } = budget(1_000);
    const [holder, other] = [process(), process()];
    say(holder, 600);
    say(other, 300);
    const committed = holder.account.ended(600);
    holder.account.close();
    expect([other.paused, memory.stats().bytes]).toEqual([false, 900]);
    committed();
    expect(memory.stats().bytes).toBe(300);
  });
});
