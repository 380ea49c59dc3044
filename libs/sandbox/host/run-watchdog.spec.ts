import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectedRun } from '../testing/collected-run.js';
import { type RunCollector } from './run-collector.js';
import { RunWatchdog } from './run-watchdog.js';
import { SentRuns } from './sent-runs.js';

describe('the watchdog of a process', () => {
  let now: number;
  let isAlive: boolean;
  let sent: SentRuns;
  let watchdog: RunWatchdog;
  let reports: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    now = 1_000;
    isAlive = true;
    reports = [];
    sent = new SentRuns(2);
    watchdog = new RunWatchdog(
      sent,
      2,
      { now: () => now },
      {
        alive: () => isAlive,
        onOverdue: (run) => report(run ? `run ${run.n}` : 'unknown run'),
        onGiveBackOverdue: () => report('give back'),
      },
    );
  });
  afterEach(() => {
    watchdog.close();
    jest.useRealTimers();
  });

  const report = (what: string): void => {
    reports.push(what);
    isAlive = false;
  };
  const add = (startedAt?: number, beside = false): RunCollector => {
    const run = collectedRun({ n: sent.nextNumber(), work: beside ? 'hook' : 'run' });
    sent.add(run);
    if (startedAt !== undefined) sent.start(run, startedAt);
    watchdog.watch();
    return run;
  };
  /** Lets the time pass and the watchdog look once. */
  const pass = (ms: number): void => {
    now += ms;
    jest.advanceTimersByTime(10);
  };

  it('reports the run that exceeded its limit, once', () => {
    add(1_000);
    add(1_050);
    pass(99);
    expect(reports).toEqual([]);
    pass(1);
    pass(100);
    expect(reports).toEqual(['run 1']);
  });

  it('reports an unknown run when a run that could start does not, because something blocks the process', () => {
    add(1_090);
    add();
    pass(100);
    expect(reports).toEqual(['unknown run']);
  });

  it('does not count the wait of a run for its turn, nor a hook as a turn', () => {
    add(1_090);
    add(1_090);
    const waiting = add();
    pass(100 - 1);
    pass(1);
    expect(reports).toEqual([]);
    sent.remove(waiting);
    const [first] = sent;
    if (first) sent.remove(first);
    add(1_090, true);
    add();
    pass(1);
    expect(reports).toEqual(['unknown run']);
  });

  it('counts the time of a run that does not start from the last record of the process', () => {
    add();
    pass(60);
    watchdog.heard();
    pass(60);
    expect(reports).toEqual([]);
    pass(40);
    expect(reports).toEqual(['unknown run']);
  });

  it('does not count the time during which the process was not read', () => {
    add(1_000);
    pass(90);
    watchdog.pause();
    pass(500);
    watchdog.pause();
    expect([watchdog.resume(), watchdog.resume()]).toEqual([true, false]);
    pass(9);
    expect(reports).toEqual([]);
    pass(1);
    expect(reports).toEqual(['run 1']);
  });

  it('gives an answer to drop the longest limit and a second, not counting pauses', () => {
    add(1_000);
    watchdog.expectGiveBack();
    const [run] = sent;
    if (run) sent.remove(run);
    add(1_000).wasUnheard(10_000);
    watchdog.pause();
    pass(5_000);
    watchdog.resume();
    pass(1_099);
    expect([reports, watchdog.awaitsGiveBack]).toEqual([[], true]);
    pass(1);
    expect(reports).toEqual(['give back']);
    watchdog.givenBack();
    expect(watchdog.awaitsGiveBack).toBe(false);
  });

  it('stops when no run is left, and starts again with the next', () => {
    const run = add(1_000);
    sent.remove(run);
    pass(10);
    expect(jest.getTimerCount()).toBe(0);
    add(now);
    pass(100);
    expect(reports).toEqual(['run 2']);
  });
});
