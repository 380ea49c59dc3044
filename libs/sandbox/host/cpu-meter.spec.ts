import { describe, expect, it } from '@jest/globals';
import { CpuMeter } from './cpu-meter.js';
import { cpuMsOf } from './process-cpu.js';

describe('the CPU meter', () => {
  const world = () => {
    const state = { now: 0, cpu: 0 };
    const meter = new CpuMeter(() => state.now);
    const process = { workspaceId: 'o_1', going: 0, begun: 1 };
    const after = (cpuMs: number) => {
      state.now += 1_000;
      state.cpu += cpuMs;
      return meter.look(process, state.cpu);
    };
    return { meter, process, after };
  };

  it('finds a process that is busy at two consecutive looks without a run', () => {
    const { after, meter } = world();
    expect([after(50), after(300), after(10), after(250)]).toEqual([undefined, undefined, undefined, undefined]);
    expect(after(900)).toEqual({ cpuMs: 1_150, overMs: 2_000 });
    expect(meter.secondsByWorkspace()).toEqual({ o_1: 1.51 });
  });

  it('ignores a process that works on runs, even when none is in progress at the looks', () => {
    const { after, process } = world();
    for (let n = 0; n < 5; n++) {
      process.begun++;
      expect(after(1_000)).toBeUndefined();
    }
    process.going = 1;
    for (let n = 0; n < 5; n++) expect(after(1_000)).toBeUndefined();
  });

  it('reads the CPU time of a process and its descendants', () => {
    const before = cpuMsOf(process.pid) ?? NaN;
    const until = process.cpuUsage().user + 60_000;
    while (process.cpuUsage().user < until);
    expect(cpuMsOf(process.pid)).toBeGreaterThanOrEqual(before + 20);
    expect(cpuMsOf(2 ** 22 + 1)).toBeUndefined();
  });
});
